"""The scenario as a model drafts it, and as code lets it stand."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language
from graph.oria.prompts import read_prompt
from graph.oria.tools.simulation.brief import Brief
from graph.oria.tools.simulation.skills import CatalogueSkill
from graph.oria.tools.talent.person_candidates import PersonCandidate
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import (
    SIMULATION_CRITERIA,
    SIMULATION_LABEL_CHARACTERS,
    SIMULATION_MINUTES,
    SIMULATION_OUTCOMES,
    SIMULATION_SCENARIO_SECONDS,
    SIMULATION_SKILLS,
    SIMULATION_TEXT_CHARACTERS,
)
from graph.simulation.scenario import Counterpart, Difficulty, PractisedSkill, Scenario, bound_text
from oria_runtime.models.errors import ModelMalformedError
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext

LABEL: Final = "suggest_simulation.scenario"


class Drafted(BaseModel):
    """Base of the model's draft."""

    model_config = ConfigDict(extra="forbid")


class DraftCounterpart(Drafted):
    """The other side of the talk. There is no field for an identity: code sets it, or nobody does."""

    role: str
    attitude: str
    instructions: str


class DraftSkill(Drafted):
    """One capability."""

    title: str
    catalogue_number: int | None = Field(description="Number of the same skill in `catalogue_skills`, or null.")
    criteria: list[str] = Field(min_length=SIMULATION_CRITERIA[0])


class Draft(Drafted):
    """A whole scenario."""

    title: str
    situation: str
    counterpart: DraftCounterpart
    goal: str
    opening_line: str
    expected_outcomes: list[str] = Field(min_length=SIMULATION_OUTCOMES[0])
    skills: list[DraftSkill] = Field(min_length=SIMULATION_SKILLS[0])
    difficulty: Difficulty
    estimated_minutes: int


async def draft_scenario(
    brief: Brief, colleague: PersonCandidate | None, catalogue: Sequence[CatalogueSkill], context: TurnContext
) -> Scenario:
    """The scenario for this wish. Raises ModelError, also for a draft that code cannot make a scenario of."""
    language = f"Write everything in {name_language(context.turn.locale)}."
    stable = "\n\n".join([read_prompt("simulation/scenario"), untrusted_content_policy()])
    wish = data_message("Practice", write_wish(brief, colleague, catalogue))
    draft = await context.models.structured(
        label=LABEL,
        schema=Draft,
        messages=[write_prompt(stable, language), wish],
        timeout=SIMULATION_SCENARIO_SECONDS,
        profile="large",
    )
    return build_scenario(draft, colleague, catalogue)


def write_wish(brief: Brief, colleague: PersonCandidate | None, catalogue: Sequence[CatalogueSkill]) -> dict[str, Any]:
    """What the draft is made from; a colleague who was not found is not in it.

    What tells namesakes apart beside the job title, such as an address, is nothing for a scenario.
    """
    wish: dict[str, Any] = brief.model_dump()
    if colleague is not None:
        wish |= {"counterpart_name": colleague["name"], "counterpart_job_title": colleague["job_title"]}
    skills = [{"number": number, "label": skill.label} for number, skill in enumerate(catalogue, start=1)]
    return {name: value for name, value in (wish | {"catalogue_skills": skills}).items() if value}


def build_scenario(draft: Draft, colleague: PersonCandidate | None, catalogue: Sequence[CatalogueSkill]) -> Scenario:
    """The draft within its bounds: texts cut, repetitions and empty parts dropped, surplus left out, minutes clamped.

    Raises ModelMalformedError when a part without which nobody can practise is missing.
    """
    least, most = SIMULATION_MINUTES
    outcomes = list_texts(draft.expected_outcomes)[: SIMULATION_OUTCOMES[1]]
    skills = build_skills(draft.skills, catalogue)
    scenario = Scenario(
        title=bound_text(draft.title, SIMULATION_LABEL_CHARACTERS),
        situation=bound_text(draft.situation, SIMULATION_TEXT_CHARACTERS),
        counterpart=Counterpart(
            role=bound_text(draft.counterpart.role, SIMULATION_LABEL_CHARACTERS),
            attitude=bound_text(draft.counterpart.attitude, SIMULATION_TEXT_CHARACTERS),
            instructions=bound_text(draft.counterpart.instructions, SIMULATION_TEXT_CHARACTERS),
            person_id=colleague["id"] if colleague else None,
            name=colleague["name"] if colleague else None,
        ),
        goal=bound_text(draft.goal, SIMULATION_TEXT_CHARACTERS),
        opening_line=bound_text(draft.opening_line, SIMULATION_TEXT_CHARACTERS),
        outcomes=tuple(outcomes),
        skills=tuple(skills),
        difficulty=draft.difficulty,
        minutes=min(most, max(least, draft.estimated_minutes)),
    )
    require_whole(scenario)
    return scenario


def require_whole(scenario: Scenario) -> None:
    """Raises ModelMalformedError for a scenario that lacks something; the detail names it."""
    counterpart = scenario.counterpart
    texts = {
        "title": scenario.title,
        "situation": scenario.situation,
        "role": counterpart.role,
        "instructions": counterpart.instructions,
        "goal": scenario.goal,
        "opening_line": scenario.opening_line,
    }
    missing = [name for name, text in texts.items() if not text]
    missing += ["outcomes"] if len(scenario.outcomes) < SIMULATION_OUTCOMES[0] else []
    missing += ["skills"] if len(scenario.skills) < SIMULATION_SKILLS[0] else []
    if missing:
        raise ModelMalformedError(f"the scenario lacks {', '.join(missing)}")


def build_skills(drafts: Iterable[DraftSkill], catalogue: Sequence[CatalogueSkill]) -> list[PractisedSkill]:
    """The skills that have a title and a criterion, each title and each code once."""
    skills: dict[str, PractisedSkill] = {}
    codes = {number: skill.code for number, skill in enumerate(catalogue, start=1)}
    for draft in drafts:
        title = bound_text(draft.title, SIMULATION_LABEL_CHARACTERS)
        criteria = list_texts(draft.criteria)[: SIMULATION_CRITERIA[1]]
        if not title or title.casefold() in skills or len(criteria) < SIMULATION_CRITERIA[0]:
            continue
        code = codes.pop(draft.catalogue_number, None) if draft.catalogue_number is not None else None
        skills[title.casefold()] = PractisedSkill(title=title, code=code, criteria=tuple(criteria))
    return list(skills.values())[: SIMULATION_SKILLS[1]]


def list_texts(texts: Iterable[str]) -> list[str]:
    """The texts that say something, each once."""
    return list(
        {
            text.casefold(): text
            for given in reversed(list(texts))
            if (text := bound_text(given, SIMULATION_TEXT_CHARACTERS))
        }.values()
    )[::-1]
