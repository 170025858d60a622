"""The words of a search: what the work is about, and facts of the person where the request is about those."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph.oria.tools.opportunities.comparison import WORD, fold, unite
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria, list_used
from graph.policy import OPPORTUNITY_PROFILE_TERMS, OPPORTUNITY_QUERY_CHARACTERS
from oria_runtime.catalog.people import Objective, Profile

# Words that every such request has and many descriptions too: matching them would rank by chance.
NOISE: Final = {
    "opportunity", "opportunities", "opening", "openings", "job", "jobs", "position", "positions", "role", "roles",
    "find", "show", "search", "more", "other", "others", "want", "need", "looking", "suggest", "objective", "goal",
    "opportunite", "opportunites", "poste", "postes", "emploi", "emplois", "trouver", "montrer", "chercher", "cherche",
    "autres", "veux", "voudrais", "besoin", "objectif", "oportunidad", "oportunidades", "puesto", "puestos", "empleo",
    "empleos", "buscar", "busco", "mostrar", "otras", "otros", "quiero", "necesito", "objetivo",
}  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A resolved query: `text` is embedded and its `words` are matched; an empty one leaves the filters alone."""

    text: str

    @property
    def words(self) -> str:
        return " ".join(word for word in WORD.findall(self.text) if fold(word) not in NOISE)


def resolve_query(request: str, criteria: OpportunitySearchCriteria, terms: Iterable[str] = ()) -> Query:
    """The query of a request: its topic and skills, and `terms` of the profile. The request itself where it has neither
    topic nor criteria, because then nothing else says what is wanted."""
    parts = [criteria.topic, *criteria.skills, *terms]
    if not any(parts) and not list_used(criteria):
        parts = [request]
    return join_parts(parts)


def resolve_objective_query(objective: Objective, message: str) -> Query:
    """The query of an objective: its title, its skills, and what the person wrote."""
    return join_parts([objective.title, *(skill.label for skill in objective.skills), message])


def join_parts(parts: Iterable[str]) -> Query:
    return Query(". ".join(unite(part.strip() for part in parts))[:OPPORTUNITY_QUERY_CHARACTERS])


def describe_person(profile: Profile) -> dict[str, Any]:
    """The facts of the current user that a request may refer to; nothing that identifies them."""
    basics = ("job_title", "department", "location", "work_mode", "classification")
    facts: dict[str, Any] = {name: getattr(profile, name) for name in basics}
    facts |= {
        "skills": list_labels(skill.label for skill in profile.skills),
        "interests": list_labels(profile.interests),
        "departments_of_interest": list_labels(profile.departments),
        "objectives": list_labels(objective.title for objective in profile.objectives if is_current(objective)),
    }
    return {name: value for name, value in facts.items() if value}


def list_profile_terms(facts: Mapping[str, Any]) -> list[str]:
    """What the facts say about fitting work: the job, interests, objectives, skills."""
    job = facts.get("job_title") or ""
    terms = [job, *facts.get("interests", ()), *facts.get("objectives", ()), *facts.get("skills", ())]
    return [term for term in terms if term][:OPPORTUNITY_PROFILE_TERMS]


def list_labels(labels: Iterable[str]) -> list[str]:
    return unite(labels)[:OPPORTUNITY_PROFILE_TERMS]


def is_current(objective: Objective) -> bool:
    return objective.status == "current"
