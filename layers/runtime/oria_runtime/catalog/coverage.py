"""The skill score of a profile for a job or an opportunity: weighted coverage of what is asked for (DESIGN §9, "JPM").

A required skill earns its weight when the person has it at the level asked for, and the share `level / asked level` of
it below that. Two silences are read in the person's favour: a skill recorded without a level, and a requirement without
one (or at level 0), are met by having the skill at all. Level 0 is not having it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from oria_runtime.catalog.jobs import JobSkill
from oria_runtime.catalog.people import ProfileSkill


@dataclass(frozen=True)
class Coverage:
    """How far a profile covers required skills.

    `score` is from 0 to 1; it is 0 when nothing is required, because then nothing supports a match. `covered` are the
    skills that are met in full, in the given order; `missing` the others, those that cost most of the score first.
    """

    score: float
    covered: Sequence[JobSkill]
    missing: Sequence[JobSkill]


def measure_coverage(owned: Mapping[str, int | None], required: Sequence[JobSkill]) -> Coverage:
    """The coverage of `required` by the skills of a profile, given as code to level (0 to 5, None when unknown)."""
    met = [(skill, measure_skill(owned, skill)) for skill in required]
    lost = [(skill, skill.weight * (1 - share)) for skill, share in met if share < 1]
    total = sum(skill.weight for skill in required)
    earned = sum(skill.weight * share for skill, share in met)
    return Coverage(
        score=min(1.0, earned / total) if total > 0 else 0.0,
        covered=[skill for skill, share in met if share == 1],
        missing=[skill for skill, _ in sorted(lost, key=lambda entry: -entry[1])],
    )


def measure_skill(owned: Mapping[str, int | None], skill: JobSkill) -> float:
    """The share of one requirement that is met, from 0 to 1."""
    if skill.code not in owned:
        return 0.0
    level = owned[skill.code]
    if level is None:
        return 1.0
    return min(1.0, level / skill.level) if skill.level else float(level > 0)


def list_levels(skills: Iterable[ProfileSkill]) -> dict[str, int | None]:
    """The skills of a profile as `measure_coverage` takes them."""
    return {skill.code: skill.level for skill in skills}
