"""The counterpart: plays one side of the conversation, from what it may know of the scenario.

It is not told the goal, the expected outcomes or the criteria. What its model does not know, no line of the person can
draw out of it.
"""

from typing import Any, Final

from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime

from graph.middleware.answers import stream_answer
from graph.oria.language import name_language
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import SIMULATION_CLOSING_EXCHANGES, SIMULATION_LINE_TOKENS
from graph.simulation.dialogue import Practice, read_practice, write_window
from graph.simulation.prompts import read_prompt
from graph.simulation.state import SimulationState
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome

LABEL: Final = "simulation.counterpart"


async def run_counterpart(state: SimulationState, runtime: Runtime[TurnContext]) -> dict[str, Any]:  # noqa: ARG001
    """The node: streams the counterpart's next line. Raises ModelError, StageFailedError."""
    context = runtime.context
    practice = await read_practice(context)
    chat = context.models.chat("mini", LABEL, max_tokens=SIMULATION_LINE_TOKENS)
    return {"outcome": Outcome("message", await stream_answer(chat, write_request(practice, context))).as_json()}


def write_request(practice: Practice, context: TurnContext) -> list[AnyMessage]:
    """Instructions, the part to play as data, and the talk in its window."""
    stable = "\n\n".join([read_prompt("counterpart"), untrusted_content_policy()])
    system = write_prompt(stable, write_notes(practice, context.turn.locale))
    part = data_message("Part to play", describe_part(practice))
    return [system, part, *write_window(practice, context.turn.message)]


def describe_part(practice: Practice) -> dict[str, Any]:
    """What the counterpart knows."""
    scenario = practice.scenario
    counterpart = scenario.counterpart
    part = {
        "situation": scenario.situation,
        "role": counterpart.role,
        "name": counterpart.name,
        "attitude": counterpart.attitude,
        "private_instructions": counterpart.instructions,
    }
    return {name: value for name, value in part.items() if value}


def write_notes(practice: Practice, locale: str) -> str:
    """What changes with each request, after everything stable."""
    left = practice.budget.exchanges - practice.exchanges
    closing = left <= SIMULATION_CLOSING_EXCHANGES
    notes = [
        f"Speak {name_language(locale)}.",
        *(["The talk ends in a moment: react, and bring it to a natural close."] if closing else []),
    ]
    return "\n".join(["## This line", "", *(f"- {note}" for note in notes)])
