"""The boundary of a tool: whatever goes wrong inside, the model gets one stable text that gives nothing away."""

import logging
from collections.abc import Awaitable, Mapping
from typing import Any

from langchain.agents.middleware import ToolErrorMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

logger = logging.getLogger(__name__)

ToolResult = ToolMessage | Command[Any]


async def run_bounded(work: Awaitable[ToolResult], *, name: str, call_id: str | None, failure: str) -> ToolResult:
    """The result of a tool's work, or `failure` as an error result of the same call.

    Interruptions, parent commands and cancellation pass unchanged. The log names the kind of error only: provider and
    driver errors quote what they were given.
    """
    try:
        return await work
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of a tool is where every kind must end
        log_failure(error, name, call_id)
        return fail(name, call_id, failure)


def bound_errors(texts: Mapping[str, str]) -> ToolErrorMiddleware[Any, Any]:
    """The same boundary for tools that raise: LangChain's middleware with the safe text of each tool."""

    def write_error(error: Exception, request: ToolCallRequest) -> str:
        name = request.tool_call["name"]
        log_failure(error, name, request.tool_call["id"])
        return texts[name]

    return ToolErrorMiddleware(write_error, tools=list(texts))


def log_failure(error: Exception, name: str, call_id: str | None) -> None:
    """Say which call failed, by the kinds of its causes."""
    kinds = " < ".join(type(cause).__name__ for cause in chain_causes(error))
    logger.error("tool failed", extra={"tool": name, "tool_call_id": call_id, "error": kinds})


def fail(name: str, call_id: str | None, text: str) -> ToolMessage:
    """An error result of a call."""
    return ToolMessage(text, name=name, tool_call_id=call_id or "", status="error")


def chain_causes(error: BaseException) -> list[BaseException]:
    """The error and what caused it, outermost first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__
    return chain
