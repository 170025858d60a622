"""Development objectives for the gaps: up to six, each for a gap of the evidence. The card stands without them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.tools.profile_analysis.evidence import Gap
from graph.oria.tools.profile_analysis.generation import Generation
from graph.oria.tools.profile_analysis.narrative import tidy
from graph.policy import ANALYSIS_OBJECTIVES_SECONDS
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

TASK: Final = "objectives"


class WrittenObjective(BaseModel):
    """An objective for one gap."""

    model_config = ConfigDict(extra="forbid")
    gap: int = Field(description="The number of the gap.")
    title: str = Field(description="What the person wants to be able to do, in at most twelve words.")
    description: str = Field(
        description="How to work on it and how to notice that it is reached, in one or two sentences."
    )


class WrittenObjectives(BaseModel):
    """The objectives, in the order of the gaps."""

    model_config = ConfigDict(extra="forbid")
    objectives: list[WrittenObjective]


@dataclass(frozen=True)
class Objective:
    """An objective as the card shows it."""

    title: str
    description: str


async def write_objectives(
    generation: Generation, gaps: Sequence[Gap], seconds: float = ANALYSIS_OBJECTIVES_SECONDS
) -> dict[str, Objective]:
    """Objectives by the code of their gap; none without gaps, and none when the model is too slow or fails."""
    if not gaps:
        return {}
    try:
        written = await generation.write(TASK, WrittenObjectives, seconds)
    except ModelError as error:
        logger.warning("objectives unavailable: the card goes without", extra={"error": error.code})
        return {}
    found: dict[str, Objective] = {}
    for objective in written.objectives:
        title = tidy(objective.title)
        if title and 1 <= objective.gap <= len(gaps):
            found.setdefault(gaps[objective.gap - 1].code, Objective(title, tidy(objective.description)))
    return found
