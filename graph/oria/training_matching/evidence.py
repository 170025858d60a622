"""What supports that a training fits: facts that hold of the catalogue and the profile, checked here, never by a model.

The person's search query is a text that no gate has seen. It is compared by code and goes no further: a fact holds the
catalogue's own words that it matched, so nothing of the query reaches a model.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from graph.oria.tools.comparison import WORD, contains, fold, unite
from graph.oria.tools.rationales import Evidence, Fact
from graph.policy import RATIONALE_VALUES, TRAINING_QUERY_CHARACTERS
from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.jobs import Job, read_jobs
from oria_runtime.catalog.people import Profile, read_profile
from oria_runtime.catalog.skills import read_skills
from oria_runtime.catalog.trainings import Training, read_trainings

FactName = Literal["topic", "gaps", "objective_skills", "own_skills", "interests", "mandatory"]
# A short word says something only as a name, such as HR or R.
SHORT: Final = 3


@dataclass(frozen=True)
class Matter:
    """All that is compared: the training, the labels of its skills by code, the person, and their job."""

    training: Training
    labels: Mapping[str, str]
    profile: Profile | None
    job: Job | None


async def read_matter(connection: AsyncConnection[DictRow], training_id: str, user_id: str) -> Matter | None:
    """None when the tenant has no such active training."""
    trainings = await read_trainings(connection, [training_id])
    if not trainings:
        return None
    profile = await read_profile(connection, user_id)
    jobs = await read_jobs(connection, [profile.job_code]) if profile and profile.job_code else []
    skills = await read_skills(connection, trainings[0].skills)
    return Matter(trainings[0], {skill.code: skill.label for skill in skills}, profile, jobs[0] if jobs else None)


def gather_evidence(matter: Matter, search_query: str) -> Evidence[FactName]:
    """The facts in the order in which they speak for a training."""
    found = [
        Fact("topic", match_query(matter.training, search_query[:TRAINING_QUERY_CHARACTERS])),
        *(match_person(matter, matter.profile) if matter.profile else ()),
    ]
    facts = [Fact(fact.name, fact.values[:RATIONALE_VALUES]) for fact in found if fact.values]
    return Evidence(facts, list_unsupported(matter, [value for fact in facts for value in fact.values]))


def match_query(training: Training, search_query: str) -> list[str]:
    """The words of the title and the keywords that the query names, as the catalogue writes them."""
    keywords = [keyword for keyword in training.keywords if contains(search_query, keyword)]
    words = [word for word in WORD.findall(training.title) if len(word) > SHORT or word.isupper()]
    named = [word for word in words if contains(search_query, word)]
    return unite([*keywords, *(word for word in named if not any(contains(keyword, word) for keyword in keywords))])


def match_person(matter: Matter, profile: Profile) -> list[Fact[FactName]]:
    """What the training teaches that the person lacks, wants or builds on, and what of it they care for."""
    training = matter.training
    needed = {gap.code for gap in profile.gaps}
    if matter.job is not None:
        needed |= {skill.code for skill in measure_coverage(list_levels(profile.skills), matter.job.skills).missing}
    wanted = {
        skill.code for objective in profile.objectives if objective.status == "current" for skill in objective.skills
    }
    owned = {skill.code for skill in profile.skills} - needed
    texts = "\n".join((training.title, training.description, *training.keywords))
    return [
        Fact("mandatory", [training.title] if training.id in profile.mandatory_training_ids else []),
        Fact("gaps", name_skills(matter, needed)),
        Fact("objective_skills", name_skills(matter, wanted)),
        Fact("own_skills", name_skills(matter, owned)),
        Fact("interests", [interest for interest in unite(profile.interests) if contains(texts, interest)]),
    ]


def name_skills(matter: Matter, codes: Collection[str]) -> list[str]:
    """The labels of the training's skills that are among the given ones."""
    return unite(matter.labels[code] for code in matter.training.skills if code in codes and code in matter.labels)


def list_unsupported(matter: Matter, supported: Iterable[str]) -> list[str]:
    """What a sentence could claim wrongly: skills that only one side has, interests that it does not serve."""
    profile = matter.profile
    terms = [*matter.labels.values()]
    if profile is not None:
        terms += [skill.label for skill in profile.skills]
        terms += [gap.label for gap in profile.gaps]
        terms += [skill.label for objective in profile.objectives for skill in objective.skills]
        terms += profile.interests
    values = list(supported)
    return [term for term in unite(terms) if fold(term) and not any(contains(value, term) for value in values)]
