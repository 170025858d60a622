"""The node behind Career Chat's handover: researches once, and closes the handover with exactly one result.

Whatever goes wrong in here ends as the one unavailable result, and so does a stage that was killed and is dispatched
again. Only cancellation passes. Nothing of the research itself enters the thread.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from graph.middleware.tool_boundary import log_failure
from graph.oria.agents import KNOWLEDGE_BASE, RECOVERY
from graph.oria.agents.knowledge_base.activity import COMPARE, comment
from graph.oria.agents.knowledge_base.loop import explore
from graph.oria.agents.knowledge_base.request import read_question, write_request
from graph.oria.agents.knowledge_base.synthesis import Answer, synthesize
from graph.oria.state import ResearchStatus
from graph.oria.tools.knowledge.pages import Pages
from graph.oria.tools.knowledge.research import Research
from graph.oria.tools.search_knowledge_sources import NAME as SEARCH_TOOL
from graph.oria.tools.transfer_to_knowledge_base import NAME as TRANSFER_TOOL
from graph.oria.untrusted import encode_data
from graph.policy import KNOWLEDGE_COMMIT_SECONDS, KNOWLEDGE_RESEARCH_SECONDS, KNOWLEDGE_SYNTHESIS_SECONDS
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome

MISS: Final = {
    "status": "miss",
    "note": "The company's knowledge was searched and does not hold the answer.",
}
UNAVAILABLE: Final = {"status": "unavailable", "note": "The company's knowledge could not be checked just now."}


@dataclass(frozen=True)
class Finding:
    """What became of a research; `answer` is there when it is supported."""

    status: ResearchStatus
    answer: Answer | None = None


async def answer_handover(state: Mapping[str, Any], runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node's update: the call with its result, and the outcome when the answer is supported.

    Raises StageFailedError when nothing was handed over.
    """
    handover: AIMessage | None = state.get("handover")
    if handover is None:
        raise StageFailedError("no_handover", "nothing was handed over", retryable=False)
    finding = await find_safely(state["messages"], runtime.context)
    update: dict[str, Any] = {"handover": None, "research": finding.status}
    closed = [handover, write_result(finding, handover.tool_calls[0]["id"] or "")]
    if finding.answer is None:
        return update | {"messages": closed}
    outcome = Outcome(
        "message", finding.answer.text, cards=state.get("shown_cards", []), sources=finding.answer.list_sources()
    )
    return update | {"messages": [*closed, AIMessage(finding.answer.text)], "outcome": outcome.as_json()}


async def find_safely(messages: list[AnyMessage], context: TurnContext) -> Finding:
    """What is found; `unavailable` where the engine asks for that, and for every kind of error."""
    if context.directive == RECOVERY:
        return Finding("unavailable")
    try:
        return await find(messages, context)
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - the person learns that it could not be checked, whatever the reason
        log_failure(error, KNOWLEDGE_BASE.id, None)
        return Finding("unavailable")


async def find(messages: list[AnyMessage], context: TurnContext) -> Finding:
    """Search, read, and judge once. Raises what models and tools raise."""
    request = write_request(messages, context)
    async with Pages(allow_loopback=context.allow_loopback) as pages:
        research = Research(context, pages, read_question(context))
        await explore_in_time(research, request)
        answer = await judge(research, request)
    if answer is not None:
        return Finding("supported", answer)
    # What could not be read may hold the answer: only a whole research may say that there is none.
    return Finding("unavailable" if research.is_incomplete else "miss")


async def explore_in_time(research: Research, request: Any) -> None:
    """The research within what its stage leaves it beside the synthesis; a search that the model left out is made."""
    seconds = min(KNOWLEDGE_RESEARCH_SECONDS, count_seconds(research.context) - KNOWLEDGE_SYNTHESIS_SECONDS)
    try:
        async with asyncio.timeout(seconds):
            await explore(research, request)
            if not research.searches:
                await search_once(research)
    except TimeoutError as error:
        log_failure(error, KNOWLEDGE_BASE.id, None)
        research.is_incomplete = True


async def search_once(research: Research) -> None:
    """The search with the person's own message."""
    turn = research.context.turn
    with comment(f"{turn.id}:{SEARCH_TOOL}", SEARCH_TOOL, turn.locale) as step:
        await research.search(None)
        step.status = "ok"


async def judge(research: Research, request: Any) -> Answer | None:
    """The synthesis, as a step that the person sees."""
    turn = research.context.turn
    with comment(f"{turn.id}:{COMPARE}", COMPARE, turn.locale) as step:
        seconds = min(KNOWLEDGE_SYNTHESIS_SECONDS, count_seconds(research.context))
        answer = await synthesize(research, request, seconds)
        step.status = "ok"
    return answer


def count_seconds(context: TurnContext) -> float:
    """What is left of the stage for research."""
    return context.deadline - asyncio.get_running_loop().time() - KNOWLEDGE_COMMIT_SECONDS


def write_result(finding: Finding, call_id: str) -> ToolMessage:
    """The result of the handover's call, as models read it."""
    if finding.answer is not None:
        content = encode_data({"status": finding.status, "sources": finding.answer.list_sources()})
        return ToolMessage(content, name=TRANSFER_TOOL, tool_call_id=call_id)
    if finding.status == "miss":
        return ToolMessage(encode_data(MISS), name=TRANSFER_TOOL, tool_call_id=call_id)
    return ToolMessage(encode_data(UNAVAILABLE), name=TRANSFER_TOOL, tool_call_id=call_id, status="error")
