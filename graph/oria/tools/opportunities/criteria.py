"""The structured criteria of a search: their strict schema, their bounds, and how an answer changes them."""

from collections.abc import Collection
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.tools.clarification import clean
from graph.oria.tools.comparison import unite
from graph.policy import (
    OPPORTUNITY_CRITERION_CHARACTERS,
    OPPORTUNITY_CRITERION_VALUES,
    OPPORTUNITY_QUERY_CHARACTERS,
)
from oria_runtime.catalog.fields import WorkMode
from oria_runtime.catalog.opportunities import EmploymentType, OpportunityKind

CriterionName = Literal[
    "kinds",
    "departments",
    "locations",
    "work_modes",
    "classifications",
    "employment_types",
    "companies",
    "languages",
    "skills",
    "posted_within_days",
]
CRITERIA: Final[tuple[CriterionName, ...]] = get_args(CriterionName)
TOPIC: Final = "topic"


class OpportunitySearchCriteria(BaseModel):
    """What a request asks for, and nothing else. Lists are empty and numbers null where it asks for nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    topic: str = Field(description="What the work is about: role, subject, activity. No condition, no filler words.")
    kinds: list[OpportunityKind] = Field(description="Only when the request names the kind of opportunity.")
    departments: list[str] = Field(description="Names of departments.")
    locations: list[str] = Field(description="Names of towns, regions or countries.")
    work_modes: list[WorkMode]
    classifications: list[str] = Field(description="Names of grades or classifications, as the request writes them.")
    employment_types: list[EmploymentType] = Field(description="Only when the request names the type of contract.")
    companies: list[str] = Field(description="Names of companies or business units.")
    languages: list[str] = Field(description="Languages to work in, as ISO 639-1 codes such as `en`.")
    skills: list[str] = Field(description="Skills that the work must ask for, each by its usual name.")
    all_skills: bool = Field(description="True only when every one of the skills is required together.")
    posted_within_days: int | None = Field(description="For a request of recent openings: how many days back.")


NO_CRITERIA: Final = OpportunitySearchCriteria(
    topic="",
    kinds=[],
    departments=[],
    locations=[],
    work_modes=[],
    classifications=[],
    employment_types=[],
    companies=[],
    languages=[],
    skills=[],
    all_skills=False,
    posted_within_days=None,
)


class CriteriaUpdate(OpportunitySearchCriteria):
    """What an answer adds to the criteria, and which of them it gives up."""

    dropped: list[CriterionName] = Field(description="Criteria that the answer says do not matter any more.")


def bound_criteria(criteria: OpportunitySearchCriteria) -> OpportunitySearchCriteria:
    """The criteria in storable text, without blanks and repetitions, and no longer than a search can use."""
    bounded: dict[str, Any] = {TOPIC: clean(criteria.topic)[:OPPORTUNITY_QUERY_CHARACTERS]}
    for name in CRITERIA:
        value = getattr(criteria, name)
        if isinstance(value, list):
            texts = unite(clean(text)[:OPPORTUNITY_CRITERION_CHARACTERS] for text in value)
            bounded[name] = texts[:OPPORTUNITY_CRITERION_VALUES]
    days = criteria.posted_within_days
    bounded["posted_within_days"] = days if days is not None and days > 0 else None
    return OpportunitySearchCriteria(**bounded, all_skills=criteria.all_skills)


def list_used(criteria: OpportunitySearchCriteria) -> list[CriterionName]:
    """The criteria that limit the search."""
    return [name for name in CRITERIA if getattr(criteria, name)]


def drop_criteria(criteria: OpportunitySearchCriteria, names: Collection[str]) -> OpportunitySearchCriteria:
    """The criteria without those given up."""
    return criteria.model_copy(update={name: getattr(NO_CRITERIA, name) for name in CRITERIA if name in names})


def merge_criteria(criteria: OpportunitySearchCriteria, update: CriteriaUpdate) -> OpportunitySearchCriteria:
    """The criteria after an answer: what it names replaces, what it gives up goes, all else stays."""
    kept = drop_criteria(criteria, update.dropped)
    stated: dict[str, Any] = {name: getattr(update, name) for name in (*CRITERIA, TOPIC) if getattr(update, name)}
    if update.skills:
        stated["all_skills"] = update.all_skills
    return bound_criteria(kept.model_copy(update=stated))
