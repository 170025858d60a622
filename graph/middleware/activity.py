"""Tells the person which tool is at work: names and how it ended, never arguments or results."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.progress import emit_activity_completed, emit_activity_started

ToolResult = ToolMessage | Command[Any]


class ActivityMiddleware(AgentMiddleware[AgentState[Any], TurnContext, Any]):
    """Emits `activity.started` and `activity.completed` round every tool call; a resumed call starts again."""

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        activity_id, name = request.tool_call["id"] or "", request.tool_call["name"]
        emit_activity_started(activity_id, "tool", name)
        status = "error"
        try:
            result = await handler(request)
            status = read_status(result)
        except GraphBubbleUp:
            status = "paused"
            raise
        finally:
            emit_activity_completed(activity_id, "tool", name, status)
        return result


def read_status(result: ToolResult) -> str:
    """`error` when the tool says so, else `ok`."""
    messages = [result] if isinstance(result, ToolMessage) else (result.update or {}).get("messages", [])
    failed = any(isinstance(message, ToolMessage) and message.status == "error" for message in messages)
    return "error" if failed else "ok"
