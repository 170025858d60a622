"""What supports that an opportunity fits: facts that hold of its own data, checked here and never by a model.

A rationale may name these facts and nothing else (issue 3: rationales only for supported matches).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from graph.oria.tools.comparison import contains, fold, unite
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria
from graph.oria.tools.rationales import Evidence, Fact
from graph.policy import RATIONALE_VALUES
from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.jobs import JobSkill
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.people import Objective, Profile

SHORT: Final = 2

FactName = Literal[
    "kinds",
    "departments",
    "locations",
    "work_modes",
    "classifications",
    "employment_types",
    "companies",
    "languages",
    "posted",
    "skills",
    "objective_skills",
    "objective_words",
    "own_skills",
    "topic",
    "interests",
]


@dataclass(frozen=True)
class Wishes:
    """What an opportunity can match: the criteria of the request, the person, and the objective if any.

    `words` are those of the objective or else of the request; none comes from the profile, because nobody said it.
    """

    criteria: OpportunitySearchCriteria
    words: str
    profile: Profile | None
    objective: Objective | None = None


def gather_evidence(opportunity: Opportunity, wishes: Wishes) -> Evidence[FactName]:
    """The evidence of one opportunity; without facts nothing may be said but that it was found."""
    found = [*match_criteria(opportunity, wishes), *match_person(opportunity, wishes.profile)]
    facts = [Fact(fact.name, fact.values[:RATIONALE_VALUES]) for fact in found if fact.values]
    supported = [value for fact in facts for value in fact.values]
    return Evidence(facts, list_unsupported(opportunity, wishes, supported))


def match_criteria(opportunity: Opportunity, wishes: Wishes) -> list[Fact[FactName]]:
    """What the request names and the opportunity has."""
    asked, days = wishes.criteria, wishes.criteria.posted_within_days
    posted = opportunity.posted_on if days else None
    labels = [skill.label for skill in wishes.objective.skills] if wishes.objective else []
    codes = {skill.code for skill in wishes.objective.skills} if wishes.objective else set[str]()
    return [
        Fact("kinds", same(asked.kinds, opportunity.kind)),
        Fact("departments", same(asked.departments, opportunity.department)),
        Fact("locations", same(asked.locations, opportunity.location)),
        Fact("work_modes", same(asked.work_modes, opportunity.work_mode)),
        Fact("classifications", same(asked.classifications, opportunity.classification)),
        Fact("employment_types", same(asked.employment_types, opportunity.employment_type)),
        Fact("companies", same(asked.companies, opportunity.company)),
        Fact("languages", [language for language in opportunity.languages if same(asked.languages, language)]),
        Fact("posted", [posted.isoformat()] if posted else []),
        Fact("skills", match_skills(opportunity.skills, asked.skills)),
        Fact("objective_skills", match_skills(opportunity.skills, labels, codes)),
        Fact("objective_words" if wishes.objective else "topic", match_words(opportunity.title, wishes.words)),
    ]


def match_person(opportunity: Opportunity, profile: Profile | None) -> list[Fact[FactName]]:
    """What the person has and the opportunity asks for: skills met in full, interests that its texts name."""
    if profile is None:
        return []
    covered = list_covered(opportunity, profile)
    texts = f"{opportunity.title}\n{opportunity.description}"
    return [
        Fact("own_skills", unite(skill.label for skill in covered)),
        Fact("interests", [interest for interest in unite(profile.interests) if contains(texts, interest)]),
    ]


def list_covered(opportunity: Opportunity, profile: Profile) -> Sequence[JobSkill]:
    """The skills asked for that the person has at the level asked for."""
    return measure_coverage(list_levels(profile.skills), opportunity.skills).covered


def same(asked: Iterable[str], value: str | None) -> list[str]:
    """The opportunity's value if one of those asked for is it or a part of its name."""
    return [value] if value and any(contains(value, wanted) for wanted in asked) else []


def match_words(title: str, words: str) -> list[str]:
    """Those of the words that the title holds; a short one says something only as a name, such as HR or R."""
    telling = [word for word in unite(words.split()) if len(word) > SHORT or word.isupper()]
    return [word for word in telling if contains(title, word)]


def match_skills(required: Sequence[JobSkill], labels: Iterable[str], codes: Iterable[str] = ()) -> list[str]:
    """The labels of the required skills that are among the given ones."""
    wanted, known = {fold(label) for label in labels}, set(codes)
    return unite(skill.label for skill in required if skill.code in known or fold(skill.label) in wanted)


def list_unsupported(opportunity: Opportunity, wishes: Wishes, supported: Sequence[str]) -> list[str]:
    """Terms that a sentence could claim wrongly: criteria that are not met, skills that only one side has."""
    asked, profile, objective = wishes.criteria, wishes.profile, wishes.objective
    terms = [*asked.departments, *asked.locations, *asked.classifications, *asked.companies, *asked.skills]
    terms += [skill.label for skill in opportunity.skills]
    if objective is not None:
        required = {skill.code for skill in opportunity.skills}
        terms += [skill.label for skill in objective.skills if skill.code not in required]
    if profile is not None:
        covered = {skill.code for skill in list_covered(opportunity, profile)}
        terms += [skill.label for skill in profile.skills if skill.code not in covered]
        basics = (profile.department, profile.location, profile.classification)
        terms += [*profile.interests, *(basic for basic in basics if basic)]
    return [term for term in unite(terms) if not any(contains(value, term) for value in supported)]
