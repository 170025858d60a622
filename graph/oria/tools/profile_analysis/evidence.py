"""A profile as the analysis sees it: normalized, and bounded so that any profile fits in a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph.policy import (
    ANALYSIS_EXPERIENCES,
    ANALYSIS_GAPS,
    ANALYSIS_INTERESTS,
    ANALYSIS_LABEL_CHARACTERS,
    ANALYSIS_OBJECTIVES,
    ANALYSIS_SKILLS,
    ANALYSIS_TEXT_CHARACTERS,
    ANALYSIS_TRAININGS,
)
from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.jobs import Job
from oria_runtime.catalog.people import Experience, Profile, SkillGap


@dataclass(frozen=True)
class Gap:
    """A skill below the level that the current job asks for. `level` None: not in the profile, or not rated there."""

    code: str
    label: str
    level: int | None
    target_level: int | None


def normalize(profile: Profile) -> Profile:
    """The profile with each skill once, the best level of it, strongest first; and without gaps that are closed."""
    levels: dict[str, Any] = {}
    for skill in profile.skills:
        kept = levels.get(skill.code)
        if kept is None or (skill.level or 0) > (kept.level or 0):
            levels[skill.code] = skill
    gaps = {gap.code: gap for gap in profile.gaps if gap.target_level > gap.level}
    ordered = sorted(levels.values(), key=lambda skill: -(skill.level or 0))
    return profile.model_copy(update={"skills": tuple(ordered), "gaps": tuple(gaps.values())})


def list_gaps(profile: Profile, job: Job | None) -> list[Gap]:
    """The gaps by priority: those of the profile, else what the current job asks for and the profile does not show.

    What the job weighs more comes first, then what is further from its target.
    """
    weights = {skill.code: skill.weight for skill in job.skills} if job else {}
    if profile.gaps:
        ranked = sorted(profile.gaps, key=lambda gap: (-weigh(gap, weights), gap.level - gap.target_level))
        found = [Gap(gap.code, gap.label or gap.code, gap.level, gap.target_level) for gap in ranked]
    elif job and profile.skills:
        levels = list_levels(profile.skills)
        missing = measure_coverage(levels, job.skills).missing
        found = [Gap(skill.code, skill.label or skill.code, levels.get(skill.code), skill.level) for skill in missing]
    else:
        found = []
    return found[:ANALYSIS_GAPS]


def weigh(gap: SkillGap, weights: dict[str, float]) -> float:
    return weights.get(gap.code, 1.0)


def write_evidence(profile: Profile, job: Job | None, gaps: Sequence[Gap]) -> dict[str, Any]:
    """The JSON evidence of every model call of the analysis; no name, contact or id of the person is in it."""
    evidence = {
        "job_title": name(profile.job_title or ""),
        "department": name(profile.department or ""),
        "skills": [
            {"skill": name(skill.label or skill.code), "level": skill.level}
            for skill in profile.skills[:ANALYSIS_SKILLS]
        ],
        "skill_gaps": [write_gap(number, gap) for number, gap in enumerate(gaps, start=1)],
        "objectives": [
            {"title": name(objective.title), "description": shorten(objective.description)}
            for objective in profile.objectives
            if objective.status == "current"
        ][:ANALYSIS_OBJECTIVES],
        "experiences": [write_experience(held) for held in profile.experiences[:ANALYSIS_EXPERIENCES]],
        "trainings": [
            {"title": name(record.title or record.id), "status": record.status}
            for record in profile.training_history[:ANALYSIS_TRAININGS]
        ],
        "interests": [name(interest) for interest in profile.interests[:ANALYSIS_INTERESTS]],
        "job_requirements": write_requirements(job),
    }
    return {section: value for section, value in evidence.items() if value}


def write_gap(number: int, gap: Gap) -> dict[str, Any]:
    """A gap under a number, which a model copies without a mistake where it would not a code."""
    return {"number": number, "skill": name(gap.label), "level": gap.level or 0, "target_level": gap.target_level}


def write_experience(held: Experience) -> dict[str, Any]:
    """A position, without what is unknown of it."""
    years = held.model_dump(mode="json", include={"start", "end"}, exclude_none=True)
    texts = {"title": name(held.title), "company": name(held.company), "description": shorten(held.description)}
    return {field: text for field, text in texts.items() if text} | years


def write_requirements(job: Job | None) -> list[dict[str, Any]]:
    skills = job.skills[:ANALYSIS_SKILLS] if job else ()
    return [{"skill": name(skill.label or skill.code), "level": skill.level} for skill in skills]


def name(text: str) -> str:
    """A title or label, bounded."""
    return text[:ANALYSIS_LABEL_CHARACTERS]


def shorten(text: str) -> str:
    """The beginning of a description, marked as cut."""
    return text if len(text) <= ANALYSIS_TEXT_CHARACTERS else f"{text[:ANALYSIS_TEXT_CHARACTERS]} […]"
