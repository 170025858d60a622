"""The end of a role-play: the talk is judged against the scenario's outcomes and skills.

A failed assessment fails the turn; the role-play stays open, and the next message that ends it is assessed again.
"""

from collections.abc import Sequence
from typing import Any, Final

from langgraph.runtime import Runtime

from graph.oria.language import name_language
from graph.oria.records import shorten
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import SIMULATION_ASSESSMENT_SECONDS
from graph.simulation.dialogue import Line, Practice, read_practice
from graph.simulation.judgement import Judgement, WrittenJudgement, judge_nothing, read_judgement
from graph.simulation.prompts import read_prompt
from graph.simulation.report import Conclusion, build_card, write_text
from graph.simulation.scenario import Scenario
from graph.simulation.state import SimulationState
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome

LABEL: Final = "simulation.assessment"


async def run_assessment(state: SimulationState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node: the assessment's text and card, and the end of the conversation's role-play. Raises ModelError."""
    context = runtime.context
    practice = await read_practice(context)
    ending = state["ending"] or "person"
    lines = list_lines(practice, context, ended_by_person=ending == "person")
    judgement = await judge(practice.scenario, lines, context)
    conclusion = Conclusion(practice, judgement, ending, seconds=(context.now - practice.started_at).total_seconds())
    locale = context.turn.locale
    outcome = Outcome("message", write_text(conclusion, locale), cards=[build_card(conclusion, locale)])
    return {"finished": True, "outcome": outcome.as_json()}


def list_lines(practice: Practice, context: TurnContext, *, ended_by_person: bool) -> list[Line]:
    """What is judged. The message that ends a role-play on purpose is no line of it; one that exceeds a budget is."""
    last = [] if ended_by_person else [Line("person", context.turn.message)]
    return [*practice.lines, *last]


async def judge(scenario: Scenario, lines: Sequence[Line], context: TurnContext) -> Judgement:
    """The judgement of the talk. Without a word of the person there is nothing to ask a model. Raises ModelError."""
    if not any(line.speaker == "person" for line in lines):
        return judge_nothing(scenario)
    stable = "\n\n".join([read_prompt("assessment"), untrusted_content_policy()])
    language = f"Write reasons, summary and next steps in {name_language(context.turn.locale)}."
    written = await context.models.structured(
        label=LABEL,
        schema=WrittenJudgement,
        messages=[
            write_prompt(stable, language),
            data_message("Scenario", describe_scenario(scenario)),
            data_message("Talk", describe_talk(lines)),
        ],
        timeout=SIMULATION_ASSESSMENT_SECONDS,
        profile="large",
    )
    # The opening line was there before the person said anything: it proves nothing.
    return read_judgement(written, scenario, lines[1:])


def describe_scenario(scenario: Scenario) -> dict[str, Any]:
    """What the judgement is made against."""
    return {
        "situation": scenario.situation,
        "counterpart": scenario.counterpart.role,
        "goal": scenario.goal,
        "outcomes": [{"number": number, "text": text} for number, text in enumerate(scenario.outcomes, start=1)],
        "skills": [
            {"number": number, "title": skill.title, "criteria": list(skill.criteria)}
            for number, skill in enumerate(scenario.skills, start=1)
        ],
    }


def describe_talk(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The numbered lines; the exchanges' budget bounds their number, and each is cut where it is very long."""
    return [
        {"line": number, "speaker": line.speaker, "text": shorten(line.text)}
        for number, line in enumerate(lines, start=1)
    ]
