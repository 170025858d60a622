"""The filters of a search: the tenant's, which hold always, and the criteria, which may only narrow them further."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from graph.oria.tools.comparison import contains, fold, unite
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria
from oria_runtime.catalog.opportunity_search import OpportunityFilters
from oria_runtime.catalog.people import Profile
from oria_runtime.tenancy.tenants import OpportunityConfig

Limits = Mapping[str, Sequence[str]]

# The fields that the tenant can limit; of these, the ones whose shorter name holds for the longer one too.
LIMITED: Final = ("kinds", "locations", "departments", "classifications")
NESTED: Final = frozenset({"locations", "departments"})


def list_limits(config: OpportunityConfig, profile: Profile | None) -> Limits | None:
    """What the tenant allows this person, by field; None when a fact is missing and nothing may be shown."""
    limits: dict[str, Sequence[str]] = {}
    if config.kinds is not None:
        limits["kinds"] = config.kinds
    if config.same_location:
        limits["locations"] = list_fact(profile.location if profile else None)
    if config.same_department:
        limits["departments"] = list_fact(profile.department if profile else None)
    if config.max_classification_distance is not None:
        limits["classifications"] = list_grades(config, profile.classification if profile else None)
    return limits if all(limits.values()) else None


def list_fact(value: str | None) -> list[str]:
    return [value] if value and fold(value) else []


def list_grades(config: OpportunityConfig, own: str | None) -> list[str]:
    """The grades within the tenant's distance of the person's own; none when that is not on the list."""
    distance = config.max_classification_distance or 0
    folded = [fold(grade) for grade in config.classifications]
    if not own or fold(own) not in folded:
        return []
    place = folded.index(fold(own))
    return config.classifications[max(0, place - distance) : place + distance + 1]


def build_filters(
    criteria: OpportunitySearchCriteria, limits: Limits, config: OpportunityConfig, today: date
) -> OpportunityFilters | None:
    """The filters of the search; None when criteria and limits exclude each other, so that nothing can be found."""
    values = {name: combine(name, getattr(criteria, name), limits) for name in LIMITED}
    if any(allowed is not None and not allowed for allowed in values.values()):
        return None
    days = criteria.posted_within_days
    return OpportunityFilters(
        **values,
        work_modes=criteria.work_modes,
        employment_types=criteria.employment_types,
        companies=criteria.companies,
        languages=criteria.languages,
        skills_all=criteria.skills if criteria.all_skills else None,
        skills_any=None if criteria.all_skills else criteria.skills,
        posted_after=today - timedelta(days=min(days, today.toordinal() - 1)) if days else None,
        open_on=today if config.open_only else None,
    )


def combine(name: str, asked: Sequence[str], limits: Limits) -> list[str] | None:
    """The values of a field that are both asked for and allowed; None is no filter."""
    if name not in limits:
        return list(asked) or None
    if not asked:
        return list(limits[name])
    both = (narrow(one, other, nested=name in NESTED) for one in asked for other in limits[name])
    return unite(value for value in both if value is not None)


def narrow(one: str, other: str, *, nested: bool) -> str | None:
    """The narrower of two names of the same thing ("Lyon", "Lyon, France"), or None when they are two things."""
    if fold(one) == fold(other):
        return one
    if nested and contains(one, other):
        return one
    return other if nested and contains(other, one) else None
