"""Where the current turn begins in a message list, and which calls have no result."""

from collections.abc import Collection, Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage


def find_turn_start(messages: Sequence[AnyMessage], turn_id: str) -> int:
    """The index of the turn's own message, whose id is the turn's; 0 when it is not there, so that nothing is cut."""
    return next((index for index, message in enumerate(messages) if message.id == turn_id), 0)


def list_answered(messages: Sequence[AnyMessage]) -> set[str]:
    """Ids of the calls that have a result."""
    return {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}


def list_calls(messages: Sequence[AnyMessage], names: Collection[str] | None = None) -> set[str]:
    """Ids of the calls of these tools, of all tools when none is named."""
    return {
        call["id"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["id"] is not None and (names is None or call["name"] in names)
    }
