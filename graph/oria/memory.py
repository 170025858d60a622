"""Long-term memory: what an approved message says about the person for good (DESIGN 2.5).

The models see the whole list and return it whole; `preferences` holds it together.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.preferences import reconcile
from graph.oria.prompts import read_prompt, read_sections
from graph.oria.untrusted import data_message
from graph.policy import MEMORY_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.preferences import read_preferences

DECISION_LABEL = "langgraph.memory_update_decision"
GENERATION_LABEL = "langgraph.memory_update_generation"
DECISION_NAME = "memory_update_decision"


LIST_DESCRIPTION = "The complete list, one first-person sentence per item."


class MemoryUpdate(BaseModel):
    """The complete list of lasting facts and preferences after the message."""

    model_config = ConfigDict(extra="forbid")
    preferences: list[str] = Field(description=LIST_DESCRIPTION)


class MemoryUpdateDecision(BaseModel):
    """Whether the message changes the list, and the complete list if it does."""

    # The decision comes first: a model writes the fields in order.
    model_config = ConfigDict(extra="forbid")
    decision: Literal["skip", "update"] = Field(description="`skip` leaves the stored list as it is.")
    preferences: list[str] = Field(description=LIST_DESCRIPTION)


async def remember(context: TurnContext) -> list[str] | None:
    """The whole new preference list of the turn's person, or None to leave the stored one.

    Raises ModelError; the caller's best-effort boundary owns it.
    """
    stored = (await read_preferences(context.database, context.turn.user_id)).items
    seconds = min(MEMORY_SECONDS, context.deadline - asyncio.get_running_loop().time())
    return await update_preferences(
        context.turn.message, stored, context.models, today=context.now.date(), seconds=seconds
    )


async def update_preferences(
    message: str, stored: Sequence[str], models: Models, *, today: date, seconds: float
) -> list[str] | None:
    """The reconciled list, or None when nothing changes. `seconds` covers both calls of the native path."""
    evidence = {"latest_user_message": message, "stored_preferences": list(stored)}
    update = update_natively if models.supports_decisions("mini") else update_combined
    generated = await update(evidence, models, seconds)
    if generated is None:
        return None
    reconciled = reconcile(stored, generated, today)
    return None if reconciled == list(stored) else reconciled


async def update_natively(evidence: Mapping[str, Any], models: Models, seconds: float) -> list[str] | None:
    """A decision first; only an update pays for a generation."""
    deadline = asyncio.get_running_loop().time() + seconds
    decision = await models.choose(
        label=DECISION_LABEL,
        name=DECISION_NAME,
        instructions=read_prompt("memory_update_decision"),
        choices=read_sections("memory_update_decision"),
        evidence=evidence,
        timeout=seconds,
    )
    if decision == "skip":
        return None
    update = await models.structured(
        label=GENERATION_LABEL,
        schema=MemoryUpdate,
        messages=[SystemMessage(read_prompt("memory_update_generation")), data_message("Person", dict(evidence))],
        timeout=deadline - asyncio.get_running_loop().time(),
    )
    return update.preferences


async def update_combined(evidence: Mapping[str, Any], models: Models, seconds: float) -> list[str] | None:
    """Decision and list in one structured generation, for models without native decisions."""
    update = await models.structured(
        label=DECISION_LABEL,
        schema=MemoryUpdateDecision,
        messages=[SystemMessage(write_combined_rules()), data_message("Person", dict(evidence))],
        timeout=seconds,
    )
    return None if update.decision == "skip" else update.preferences


def write_combined_rules() -> str:
    """The rules of both native calls, and how they fit in one answer."""
    choices = (f"- `{name}`: {text}" for name, text in read_sections("memory_update_decision").items())
    decision = "\n".join((read_prompt("memory_update_decision"), "", *choices))
    return "\n\n".join((read_prompt("memory_update_combined"), decision, read_prompt("memory_update_generation")))
