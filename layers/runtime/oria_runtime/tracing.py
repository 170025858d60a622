"""LangSmith and Langfuse, when configured, flushed before a function returns (langchain-ai/langsmith-sdk#2438).

LangSmith is on by its own variable (LANGSMITH_TRACING); langchain-core adds its tracer by itself. Langfuse is on when
its two keys are set, and needs the optional tracing layer.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from oria_runtime.observability import describe, logger, name_trace

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler


def langsmith_enabled(environ: Mapping[str, str]) -> bool:
    return environ.get("LANGSMITH_TRACING", "").lower() == "true"


def langfuse_enabled(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("LANGFUSE_PUBLIC_KEY") and environ.get("LANGFUSE_SECRET_KEY"))


def callbacks(environ: Mapping[str, str], turn_id: UUID) -> "list[BaseCallbackHandler]":
    """Handlers that a graph run, or the models of what is none, get beside LangSmith's; they trace under the turn."""
    if not langfuse_enabled(environ):
        return []
    from langfuse.langchain import CallbackHandler

    return [CallbackHandler(trace_context={"trace_id": name_trace(turn_id)})]


async def flush(environ: Mapping[str, str], seconds: float) -> None:
    """Send what waits, within `seconds`; a tracing server that is away costs no more than that."""
    flushers = []
    if langsmith_enabled(environ):
        from langchain_core.tracers.langchain import wait_for_all_tracers

        flushers.append(wait_for_all_tracers)
    if langfuse_enabled(environ):
        from langfuse import get_client

        flushers.append(get_client().flush)
    try:
        # At once: one after the other, two servers that are away would take twice the margin.
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(asyncio.to_thread(flusher) for flusher in flushers))
    except TimeoutError as error:
        logger.warning("traces not flushed in time", extra=describe(error))
