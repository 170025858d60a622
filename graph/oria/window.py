"""The bounded window of messages that a thread keeps (DESIGN 2.3).

The complete conversation is the transcript; this is what models read. A message list only ever loses whole turns from
its front: a provider refuses a call without its result, and a first message that is not the person's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph.message import add_messages

from graph.policy import ARTIFACT_MESSAGES, CEILING_MESSAGES, WINDOW_MESSAGES, WINDOW_TOKENS

# Marks a HumanMessage that answers questions inside a turn, so that it is not taken for the start of another one.
ANSWERS_KEY = "answers"
# Names the card that a tool's artifact stands for; it outlives the artifact (Training-Finder exception, DESIGN 9).
CARD_TYPE_KEY = "card_type"


def answers_message(text: str, message_id: str | None = None) -> HumanMessage:
    """The person's answers to an interaction, as a message inside the running turn."""
    return HumanMessage(text, id=message_id, additional_kwargs={ANSWERS_KEY: True})


def starts_turn(message: AnyMessage) -> bool:
    """Whether a turn begins with this message."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get(ANSWERS_KEY)


def merge_messages(left: Any, right: Any) -> list[AnyMessage]:
    """The reducer of the `messages` channel: LangGraph's merge by id, then the artifacts' and the ceiling's limits.

    The ceiling is twice the window: the supervisor cuts at the window's limits, because only it can summarise what
    goes.
    """
    merged = cast("list[AnyMessage]", add_messages(left, right))
    kept = drop_old_artifacts(merged)
    return kept if len(kept) <= CEILING_MESSAGES else cut_window(kept, CEILING_MESSAGES)


def exceeds_window(messages: Sequence[AnyMessage]) -> bool:
    """Whether older turns must go into the summary."""
    return len(messages) > WINDOW_MESSAGES or count_tokens_approximately(messages) > WINDOW_TOKENS


def cut_window(messages: Sequence[AnyMessage], max_messages: int, max_tokens: int | None = None) -> list[AnyMessage]:
    """The newest whole turns within both limits; the last turn stays whole even when it alone exceeds them."""
    kept: list[AnyMessage] = []
    for turn in reversed(split_turns(messages)):
        candidate = [*turn, *kept]
        too_many = len(candidate) > max_messages
        too_long = max_tokens is not None and count_tokens_approximately(candidate) > max_tokens
        if kept and (too_many or too_long):
            break
        kept = candidate
    return kept


def split_turns(messages: Sequence[AnyMessage]) -> list[list[AnyMessage]]:
    """The messages by turn; whatever precedes the first start of a turn belongs to none and is left out."""
    turns: list[list[AnyMessage]] = []
    for message in messages:
        if starts_turn(message):
            turns.append([])
        if turns:
            turns[-1].append(message)
    return turns


def drop_old_artifacts(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The same messages with artifacts in the last ones only: older result identities exclude nothing any more."""
    border = len(messages) - ARTIFACT_MESSAGES
    return [_without_artifact(message) if index < border else message for index, message in enumerate(messages)]


def find_last_card(messages: Sequence[AnyMessage]) -> str | None:
    """The type of the newest card that a tool showed in the window; an unnamed one counts as a card of type ''."""
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and (card := _read_card_type(message)) is not None:
            return card
    return None


def _without_artifact(message: AnyMessage) -> AnyMessage:
    if not isinstance(message, ToolMessage) or message.artifact is None:
        return message
    marks = message.additional_kwargs | {CARD_TYPE_KEY: _read_card_type(message)}
    return message.model_copy(update={"artifact": None, "additional_kwargs": marks})


def _read_card_type(message: ToolMessage) -> str | None:
    if message.artifact is None:
        return message.additional_kwargs.get(CARD_TYPE_KEY)
    named = message.artifact.get(CARD_TYPE_KEY) if isinstance(message.artifact, Mapping) else None
    return str(named or "")
