"""The supervisor: makes room in the window, and hands the turn to one specialist. It never writes to the person."""

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.oria.availability import find_enabled, list_enabled
from graph.oria.routing import choose_agent, write_evidence
from graph.oria.state import OriaState
from graph.oria.summary import Compaction, compact
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.context import TurnContext


async def run_supervisor(state: OriaState, runtime: Runtime[TurnContext]) -> Command[str]:
    """Pick the specialist and record it; no message is added. Raises StageFailedError."""
    context = runtime.context
    compaction = await compact(state.get("messages", []), state.get("summary", ""), context.models, context.deadline)
    agent_id = state.get("requested_agent") or await route(state, compaction, context)
    specialist = find_enabled(context.tenant.config, agent_id)
    if specialist is None:
        raise StageFailedError("agent_unavailable", f"the agent {agent_id} is not available", retryable=False)
    update: Mapping[str, Any] = {
        **compaction.update,
        "agent": agent_id,
        "active_agent": agent_id,
        "returned": bool(state.get("returned") or state.get("returning")),
        "returning": False,
    }
    return Command(goto=specialist.node, update=update)


async def route(state: OriaState, compaction: Compaction, context: TurnContext) -> str:
    """The id of the enabled specialist that the decision names."""
    evidence = write_evidence(
        compaction.messages,
        locale=context.turn.locale,
        active_agent=state.get("active_agent"),
        summary=compaction.summary,
        selected_person=state.get("selected_person") if state.get("returning") else None,
    )
    specialists = list_enabled(context.tenant.config)
    return await choose_agent(specialists, compaction.messages, evidence, context.models, context.deadline)
