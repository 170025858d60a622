"""How well the person fits the current job: the stored skill score, else the model's estimate, marked as such.

The score is the weighted skill coverage (DESIGN §9, "JPM"). A person is eligible for it who has a job of the library
that asks for skills, and skills in the profile: without any, nothing is recorded, which is no coverage of zero.
"""

import logging
from dataclasses import dataclass
from typing import Final, Literal

import psycopg
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.tools.profile_analysis.generation import Generation
from graph.oria.tools.profile_analysis.narrative import tidy
from graph.policy import ANALYSIS_ESTIMATE_SECONDS
from oria_runtime.catalog.jobs import Job, read_jobs
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.skill_scores import gather_inputs, settle_score
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

TASK: Final = "alignment"


class WrittenEstimate(BaseModel):
    """The model's estimate."""

    model_config = ConfigDict(extra="forbid")
    percent: int = Field(description="From 0 to 100: how far the profile covers what the current job asks for.")
    reason: str = Field(description="What in the profile speaks for this figure, in one or two sentences.")


@dataclass(frozen=True)
class Alignment:
    """The fit in percent, where it comes from, and for an estimate its reason."""

    percent: int
    source: Literal["skill_score", "estimate"]
    reason: str = ""


async def read_current_job(database: TenantDatabase, profile: Profile) -> Job | None:
    """The person's job as the library has it; None when there is none, or it cannot be read just now."""
    if not profile.job_code:
        return None
    try:
        async with database.transaction() as connection:
            return next(iter(await read_jobs(connection, [profile.job_code])), None)
    except psycopg.Error as error:
        logger.warning("current job unreadable: analysis without it", extra={"error": type(error).__name__})
        return None


async def find_alignment(
    generation: Generation, database: TenantDatabase, profile: Profile, job: Job | None
) -> Alignment | None:
    """The alignment, or None when there is no current role to compare with or no figure can be had."""
    if job is None and not profile.job_title:
        return None
    score = await find_score(database, profile, job)
    if score is not None:
        return Alignment(round(score * 100), "skill_score")
    try:
        written = await generation.write(TASK, WrittenEstimate, ANALYSIS_ESTIMATE_SECONDS)
    except ModelError as error:
        logger.warning("alignment not estimated: the card goes without", extra={"error": error.code})
        return None
    return Alignment(min(100, max(0, written.percent)), "estimate", tidy(written.reason))


async def find_score(database: TenantDatabase, profile: Profile, job: Job | None) -> float | None:
    """The stored score, or the one recalculation; None when the person is not eligible or the score cannot be had."""
    inputs = gather_inputs(profile, job) if job is not None and profile.skills else None
    if inputs is None:
        return None
    try:
        async with database.transaction() as connection:
            return await settle_score(connection, inputs)
    except psycopg.Error as error:
        logger.warning("skill score unavailable: estimating", extra={"error": type(error).__name__})
        return None
