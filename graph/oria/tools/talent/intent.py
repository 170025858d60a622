"""What a search for people asks for, as a model writes it and as the catalogue searches it.

The translation is deterministic. Education, certification and length of experience are no criteria of this search: the
schema has a place for them so that no model hides them under another name, and there they end (seeds/oria_tools.md,
talent_finder_tool).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.tools.clarification import clean
from graph.oria.tools.comparison import fold, unite
from graph.policy import TALENT_CRITERIA, TALENT_CRITERION_CHARACTERS, TALENT_CRITERION_VALUES
from oria_runtime.catalog.facets import Operator
from oria_runtime.catalog.talent_search import Criterion, CriterionField

TalentField = Literal[
    "classification",
    "location",
    "work_arrangement",
    "skill",
    "role",
    "employer",
    "department",
    "education",
    "certification",
    "experience_duration",
]
SEARCHED: Final[Mapping[TalentField, CriterionField]] = {
    "classification": "classification",
    "location": "location",
    "work_arrangement": "work_mode",
    "skill": "skill",
    "role": "role",
    "employer": "employer",
    "department": "department",
}
# A person has one value of these.
ONE_VALUED: Final[frozenset[TalentField]] = frozenset({"classification", "location", "work_arrangement"})
# How people write the work arrangements that the catalogue knows, folded.
ARRANGEMENTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("on_site", "onsite", "on site", "office", "sur site", "presentiel", "presencial"), "on_site"),
    **dict.fromkeys(("hybrid", "hybride", "hibrido"), "hybrid"),
    **dict.fromkeys(
        ("remote", "remotely", "home office", "a distance", "teletravail", "remoto", "a distancia", "teletrabajo"),
        "remote",
    ),
}


class TalentCriterion(BaseModel):
    """One condition; all conditions of a search must hold."""

    model_config = ConfigDict(extra="forbid")
    field: TalentField = Field(
        description="What the condition is about. Years of experience are `experience_duration`, degrees `education`."
    )
    operator: Operator = Field(description="`any`: one of the values is enough. `all`: each is required.")
    values: list[str] = Field(
        description="Single values as the person wrote them; work arrangements as on_site, hybrid or remote."
    )


class TalentSearchIntent(BaseModel):
    """The conditions that the request states, and no others; empty when it states none."""

    model_config = ConfigDict(extra="forbid")
    criteria: list[TalentCriterion]


NO_INTENT: Final = TalentSearchIntent(criteria=[])


def bound_intent(intent: TalentSearchIntent) -> TalentSearchIntent:
    """The conditions that say anything, with as many values, and as long, as a person states."""
    bounded = []
    for criterion in intent.criteria[:TALENT_CRITERIA]:
        cleaned = (clean(value)[:TALENT_CRITERION_CHARACTERS] for value in criterion.values)
        values = unite(normalize(criterion.field, value) for value in cleaned)[:TALENT_CRITERION_VALUES]
        if values:
            bounded.append(criterion.model_copy(update={"values": values}))
    return TalentSearchIntent(criteria=bounded)


def normalize(field: TalentField, value: str) -> str:
    """The catalogue's name of a work arrangement; every other value as it is."""
    return ARRANGEMENTS.get(fold(value), value) if field == "work_arrangement" else value


def compile_criteria(intent: TalentSearchIntent, codes: Mapping[str, str]) -> list[Criterion]:
    """The criteria of the search: one ANDed group for each condition that it supports, in order.

    `codes` gives the library's code for a skill label; a label without one is searched as it is written.
    """
    return [
        Criterion(
            SEARCHED[criterion.field],
            criterion.operator,
            [codes.get(value, value) for value in criterion.values] if criterion.field == "skill" else criterion.values,
        )
        for criterion in intent.criteria
        if criterion.field in SEARCHED
    ]


def list_skills(intent: TalentSearchIntent) -> list[str]:
    """The skill labels of all conditions, each once."""
    return unite(value for criterion in intent.criteria if criterion.field == "skill" for value in criterion.values)


def list_ignored(intent: TalentSearchIntent) -> list[TalentCriterion]:
    """The conditions that are dropped on purpose."""
    return [criterion for criterion in intent.criteria if criterion.field not in SEARCHED]


def drop_criteria(intent: TalentSearchIntent, changed: Collection[str]) -> TalentSearchIntent:
    """The intent without the conditions at these positions, which are ids as `name_position` writes them."""
    kept = [criterion for index, criterion in enumerate(intent.criteria) if name_position(index) not in changed]
    return TalentSearchIntent(criteria=kept)


def merge_intents(kept: TalentSearchIntent, added: TalentSearchIntent) -> TalentSearchIntent:
    """Both together, bounded. A new place, grade or arrangement replaces the kept one: nobody has two of them."""
    replaced = {criterion.field for criterion in added.criteria} & ONE_VALUED
    staying = [criterion for criterion in kept.criteria if criterion.field not in replaced]
    return bound_intent(TalentSearchIntent(criteria=[*staying, *added.criteria]))


def list_searched(intent: TalentSearchIntent) -> Sequence[tuple[str, TalentCriterion]]:
    """The conditions that were searched, with their ids."""
    return [
        (name_position(index), criterion)
        for index, criterion in enumerate(intent.criteria)
        if criterion.field in SEARCHED
    ]


def name_position(index: int) -> str:
    return f"c{index}"
