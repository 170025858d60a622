"""Conversations that outlive their provider: what of an earlier answer may be sent to whom.

An answer's content holds blocks that only its own provider understands, for the same model: reasoning items that live
on the provider's server, signed thinking, its own form of tool calls. A tenant may change provider or model between two
turns, the two profiles of one conversation are two models, and what a server keeps expires. So they go back only
inside the turn that they belong to, to the model that wrote them; everywhere else an answer is its text and its calls.
"""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

ORIGIN: Final = "oria_origin"
# What has a meaning for the provider beyond text and calls.
KEPT: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})


def stamp_origin(message: Any, origin: str) -> None:
    """Note on an answer who wrote it; the note is stored with the message."""
    message.response_metadata[ORIGIN] = origin


def neutralize(messages: Sequence[BaseMessage], origin: str) -> list[BaseMessage]:
    """The conversation as the model of `origin` may read it. Messages of people and tools stay as they are."""
    spoken = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage)]
    current = spoken[-1] if spoken else -1
    return [
        rewrite(message, keep=index > current and message.response_metadata.get(ORIGIN) == origin)
        if isinstance(message, AIMessage)
        else message
        for index, message in enumerate(messages)
    ]


def rewrite(message: AIMessage, *, keep: bool) -> AIMessage:
    """An answer as text and calls, with the provider's own blocks before them if they are to be kept."""
    text = str(message.text)
    own = [block for block in message.content if isinstance(block, dict) and block.get("type") in KEPT] if keep else []
    if not own:
        return AIMessage(text, tool_calls=message.tool_calls)
    content: list[str | dict[str, Any]] = [*own, *([{"type": "text", "text": text}] if text else [])]
    # langchain-anthropic reads `model_provider` to tell its own blocks from foreign ones.
    provider = {key: value for key, value in message.response_metadata.items() if key == "model_provider"}
    return AIMessage(content=content, tool_calls=message.tool_calls, response_metadata=provider)
