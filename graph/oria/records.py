"""Messages as JSON records: how routing and summary requests show a conversation as evidence."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.policy import RECORD_CHARACTERS


def list_records(messages: Sequence[AnyMessage]) -> list[dict[str, Any]]:
    """One record a message: role and content, and for tools the calls or the result. Artifacts are left out."""
    return [_write_record(message) for message in messages]


def _write_record(message: AnyMessage) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        content = shorten(message.text)
        return {"role": "tool", "name": message.name, "call_id": message.tool_call_id, "content": content}
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [
            {"call_id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls
        ]
        return {"role": "assistant", "content": message.text, "tool_calls": calls}
    return {"role": "user" if isinstance(message, HumanMessage) else "assistant", "content": message.text}


def shorten(text: str) -> str:
    """The beginning of a long text, marked as cut."""
    return text if len(text) <= RECORD_CHARACTERS else f"{text[:RECORD_CHARACTERS]} […]"
