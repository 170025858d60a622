"""Summaries of long conversations: what leaves the window stays known, as data that nobody has to trust."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from graph.oria.prompts import read_prompt
from graph.oria.records import list_records
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.oria.window import cut_window, exceeds_window
from graph.policy import KEPT_MESSAGES, KEPT_TOKENS, SUMMARY_OUTPUT_TOKENS, SUMMARY_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelError, ModelMalformedError, ModelTimeoutError
from oria_runtime.observability import count, logger

SUMMARY_LABEL = "langgraph.summary"


@dataclass(frozen=True)
class Compaction:
    """The window and summary to go on with, and the state update that stores them (empty when nothing changed)."""

    messages: Sequence[AnyMessage]
    summary: str
    update: dict[str, Any]


async def compact(messages: Sequence[AnyMessage], summary: str, models: Models, deadline: float) -> Compaction:
    """Summarise the oldest turns when the window has passed its limits.

    A summary that cannot be had changes nothing: no message is lost, the next turn tries again, and the reducer's
    ceiling bounds the window meanwhile. A provider that refuses to summarise must not end the conversation for good.
    """
    unchanged = Compaction(messages, summary, {})
    if not exceeds_window(messages):
        return unchanged
    kept = cut_window(messages, KEPT_MESSAGES, KEPT_TOKENS)
    older = messages[: len(messages) - len(kept)]
    if not older:
        return unchanged
    seconds = min(SUMMARY_SECONDS, deadline - asyncio.get_running_loop().time())
    try:
        written = await write_summary(older, summary, models, seconds)
    except ModelError as error:
        logger.warning("conversation not summarised", extra={"code": error.code, "messages": len(messages)})
        count("summary_failures", code=error.code)
        return unchanged
    update = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept], "summary": written}
    return Compaction(kept, written, update)


async def write_summary(older: Sequence[AnyMessage], summary: str, models: Models, seconds: float) -> str:
    """The previous summary and the older messages as one new summary. Raises ModelError."""
    chat = models.chat("mini", SUMMARY_LABEL, max_tokens=SUMMARY_OUTPUT_TOKENS)
    instructions = f"{read_prompt('summary')}\n\n{untrusted_content_policy()}"
    data = {"previous_summary": summary, "messages": list_records(older)}
    try:
        async with asyncio.timeout(seconds):
            answer = await chat.ainvoke([SystemMessage(instructions), data_message("Conversation", data)])
    except TimeoutError as error:
        raise ModelTimeoutError("the summary did not finish in time") from error
    if not answer.text.strip():
        raise ModelMalformedError("the summary is empty")
    return answer.text.strip()
