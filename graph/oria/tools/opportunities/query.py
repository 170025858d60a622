"""The words of a search: what the work is about, and facts of the person where the request is about those."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from graph.oria.tools.comparison import WORD, fold, unite
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria, list_used
from graph.policy import OPPORTUNITY_PROFILE_TERMS, OPPORTUNITY_QUERY_CHARACTERS
from oria_runtime.catalog.people import Objective, Profile

# Words that every such request has and many descriptions too: matching them would rank by chance and explain nothing.
NOISE: Final = {
    "opportunity", "opportunities", "opening", "openings", "position", "positions", "role", "roles", "jobs", "find",
    "show", "search", "more", "other", "others", "want", "would", "like", "need", "looking", "suggest", "objective",
    "goal", "posted", "last", "days", "with", "from", "about", "that", "this", "which", "what", "where", "have",
    "there", "some", "into", "could", "join", "opportunite", "opportunites", "poste", "postes", "emploi", "emplois",
    "trouver", "montrer", "chercher", "cherche", "autres", "veux", "voudrais", "besoin", "objectif", "avec", "dans",
    "pour", "quel", "quels", "quelle", "quelles", "mais", "plus", "oportunidad", "oportunidades", "puesto", "puestos",
    "empleo", "empleos", "buscar", "busco", "mostrar", "otras", "otros", "quiero", "necesito", "objetivo", "para",
    "como", "sobre", "donde", "cual", "the", "and", "for", "any", "all", "are", "can", "how", "les", "des", "une",
    "est", "sur", "par", "aux", "mes", "mon", "que", "los", "las", "del", "una", "con", "por", "mis", "job",
}  # fmt: skip
BASICS: Final = ("job_title", "department", "location", "work_mode", "classification")


@dataclass(frozen=True)
class Query:
    """A resolved query: `text` is embedded and its `words` are matched; an empty one leaves the filters alone."""

    text: str

    @property
    def words(self) -> str:
        return " ".join(word for word in WORD.findall(self.text) if fold(word) not in NOISE)


def resolve_query(request: str, criteria: OpportunitySearchCriteria, terms: Iterable[str] = ()) -> Query:
    """The query of a request: its topic and skills, and `terms` of the profile.

    The request itself where it has neither topic nor criteria, because then nothing else says what is wanted.
    """
    parts = [criteria.topic, *criteria.skills, *terms]
    if not any(parts) and not list_used(criteria):
        parts = [request]
    return join_parts(parts)


def resolve_objective_query(objective: Objective, message: str) -> Query:
    """The query of an objective: its title, its skills, and what the person wrote."""
    return join_parts([objective.title, *(skill.label for skill in objective.skills), message])


def join_parts(parts: Iterable[str]) -> Query:
    return Query(". ".join(unite(part.strip() for part in parts))[:OPPORTUNITY_QUERY_CHARACTERS])


def describe_person(profile: Profile) -> dict[str, str]:
    """The facts of the current user that a criterion may refer to; nothing that identifies them."""
    facts = {name: getattr(profile, name) for name in BASICS}
    return {name: value for name, value in facts.items() if value}


def list_profile_terms(profile: Profile) -> list[str]:
    """What the profile says about fitting work: the job, interests, current objectives, skills."""
    objectives = (objective.title for objective in profile.objectives if objective.status == "current")
    skills = (skill.label for skill in profile.skills)
    return unite([profile.job_title or "", *profile.interests, *objectives, *skills])[:OPPORTUNITY_PROFILE_TERMS]
