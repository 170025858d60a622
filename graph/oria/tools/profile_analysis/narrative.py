"""The words of the analysis: written by the model, or built from the profile's data when it cannot."""

import logging
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import pick_text
from graph.oria.tools.profile_analysis import texts
from graph.oria.tools.profile_analysis.generation import Generation
from graph.policy import ANALYSIS_COPY_SECONDS, ANALYSIS_STRENGTHS, ANALYSIS_WRITTEN_CHARACTERS
from oria_runtime.catalog.people import Profile
from oria_runtime.db.text import clean_text
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

TASK: Final = "copy"


class WrittenCopy(BaseModel):
    """The model's words."""

    model_config = ConfigDict(extra="forbid")
    summary: str = Field(description="Two to four sentences about where the person stands professionally.")
    strengths: list[str] = Field(description="What the profile shows the person to be good at, one short phrase each.")


@dataclass(frozen=True)
class Narrative:
    """What the card says in words. `generated` is false when it was built from data alone."""

    summary: str
    strengths: list[str]
    generated: bool


async def write_narrative(generation: Generation, profile: Profile, gap_count: int) -> Narrative:
    """The generated words, else the deterministic ones."""
    try:
        written = await generation.write(TASK, WrittenCopy, ANALYSIS_COPY_SECONDS)
    except ModelError as error:
        logger.warning("profile copy unavailable: using the data", extra={"error": error.code})
        return build_narrative(profile, gap_count, generation.locale)
    summary = tidy(written.summary)
    if not summary:
        return build_narrative(profile, gap_count, generation.locale)
    strengths = [phrase for text in written.strengths if (phrase := tidy(text))]
    return Narrative(summary, strengths[:ANALYSIS_STRENGTHS], generated=True)


def build_narrative(profile: Profile, gap_count: int, locale: str) -> Narrative:
    """A summary in the fixed texts' language, and the strongest skills."""
    place = texts.ROLES if profile.job_title else texts.NO_ROLES
    sentences = [
        pick_text(place, locale).format(job=profile.job_title),
        pick_text(texts.COUNTS, locale).format(
            skills=len(profile.skills),
            experiences=len(profile.experiences),
            objectives=sum(objective.status == "current" for objective in profile.objectives),
        ),
        pick_text(texts.GAPS if gap_count else texts.NO_GAPS, locale).format(gaps=gap_count),
    ]
    strongest = [skill.label or skill.code for skill in profile.skills if skill.level is None or skill.level > 0]
    return Narrative(" ".join(sentences), strongest[:ANALYSIS_STRENGTHS], generated=False)


def tidy(text: str) -> str:
    """A generated text on one line, storable and bounded."""
    return " ".join(clean_text(text).split())[:ANALYSIS_WRITTEN_CHARACTERS]
