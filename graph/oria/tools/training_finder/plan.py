"""A learning plan as the person sees it: its phases with titles and descriptions, and the card's part of it."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language, pick_text
from graph.oria.prompts import read_prompt
from graph.oria.tools.training_cards import write_lines
from graph.oria.tools.training_finder.phases import Phase
from graph.oria.tools.training_finder.texts import PHASE_TITLES, TIME_BOXES, WEEK_BOXES
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import PLAN_TEXT_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

PLAN_LABEL: Final = "training_finder.plan"


class PhaseText(BaseModel):
    """The words of one phase."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(description="What the phase is about, in at most eight words.")
    description: str = Field(description="What the person works on and can do afterwards, in one or two sentences.")


class PlanTexts(BaseModel):
    """The words of all phases, in order."""

    model_config = ConfigDict(extra="forbid")
    phases: list[PhaseText]


async def write_phase_texts(query: str, phases: Sequence[Phase], models: Models, locale: str) -> list[PhaseText]:
    """Generated titles and descriptions; numbered ones when none can be had, because the plan stands without."""
    content = [[training.title for training in phase.trainings] for phase in phases]
    rules = [
        read_prompt("training_finder/plan_texts"),
        untrusted_content_policy(),
        f"Write in {name_language(locale)}.",
    ]
    messages = [SystemMessage("\n\n".join(rules)), data_message("Learning plan", {"request": query, "phases": content})]
    try:
        texts = await models.structured(
            label=PLAN_LABEL, schema=PlanTexts, messages=messages, timeout=PLAN_TEXT_SECONDS
        )
    except ModelError as error:
        logger.warning("plan texts unavailable: using numbered phases", extra={"error": error.code})
        return number_phases(phases, locale)
    return texts.phases if len(texts.phases) == len(phases) else number_phases(phases, locale)


def number_phases(phases: Sequence[Phase], locale: str) -> list[PhaseText]:
    title = pick_text(PHASE_TITLES, locale)
    return [PhaseText(title=title.format(number=number), description="") for number in range(1, len(phases) + 1)]


def write_card_plan(phases: Sequence[Phase], texts: Sequence[PhaseText]) -> dict[str, Any]:
    """The card's `learningPlan`: phases with time boxes, referring to the items by id."""
    return {
        "weeks": phases[-1].end_week,
        "phases": [
            {
                "title": text.title,
                "description": text.description,
                "time_box": {"start_week": phase.start_week, "end_week": phase.end_week, "minutes": phase.minutes},
                "training_ids": [training.id for training in phase.trainings],
            }
            for phase, text in zip(phases, texts, strict=True)
        ],
    }


def write_plan(phases: Sequence[Phase], texts: Sequence[PhaseText], locale: str) -> str:
    """The plan as text, for channels without cards and for later turns."""
    return "\n\n".join(write_phase(phase, text, locale) for phase, text in zip(phases, texts, strict=True))


def write_phase(phase: Phase, text: PhaseText, locale: str) -> str:
    boxes = WEEK_BOXES if phase.start_week == phase.end_week else TIME_BOXES
    box = pick_text(boxes, locale).format(start=phase.start_week, end=phase.end_week, minutes=phase.minutes)
    lines = [f"**{text.title}** ({box})", text.description, write_lines(phase.trainings)]
    return "\n".join(line for line in lines if line)
