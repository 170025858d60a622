"""Loads what a training request needs to know of the person and the conversation."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.oria.records import list_records
from graph.oria.tools.profile_sections import select_sections
from graph.oria.tools.training_finder.request import Preparation, TrainingRequest
from graph.policy import TRAINING_EVIDENCE_MESSAGES
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.preferences import read_preferences


async def prepare(
    request: TrainingRequest, profile: Profile | None, messages: Sequence[AnyMessage], context: TurnContext
) -> Preparation:
    """The requested profile sections, the stored preferences and the recent conversation."""
    sections = request.list_sections()
    preferences = await read_preferences(context.database, context.turn.user_id)
    return {
        "profile": select_sections(profile, sections) if profile is not None and sections else {},
        "preferences": list(preferences.items),
        "conversation": list_records(select_texts(messages)[-TRAINING_EVIDENCE_MESSAGES:]),
    }


def select_texts(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """What person and assistant said to each other."""
    return [
        message
        for message in messages
        if not isinstance(message, ToolMessage) and not (isinstance(message, AIMessage) and message.tool_calls)
    ]
