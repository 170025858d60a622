"""The assistants of this deployment, behind the `ASSISTANTS` setting (`graph.registry:ASSISTANTS`).

The api and the channels read names, stages and agents from here, so nothing imports LangGraph before a graph is built:
each entry's functions import what they call.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graph.oria.agents import KNOWLEDGE_BASE, RECOVERY, SPECIALISTS
from graph.oria.availability import list_enabled
from graph.policy import (
    GATE_SECONDS,
    KNOWLEDGE_SECONDS,
    MEMORY_SECONDS,
    SPECIALIST_BUDGET_SECONDS,
    SPECIALIST_SECONDS,
    SUPERVISOR_SECONDS,
)
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.assistants import AgentInfo, Approval, Assistant, Stage
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome, Turn

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

ORIA_STAGES = (
    Stage("gate", frozenset({"pre_supervisor_gate"}), GATE_SECONDS),
    Stage("supervisor", frozenset({"supervisor"}), SUPERVISOR_SECONDS),
    Stage(
        "specialist",
        frozenset(specialist.node for specialist in SPECIALISTS.values()),
        SPECIALIST_SECONDS,
        budget=SPECIALIST_BUDGET_SECONDS,
    ),
    Stage(
        "knowledge",
        frozenset({KNOWLEDGE_BASE.node}),
        KNOWLEDGE_SECONDS,
        recovery=RECOVERY,
        budget=SPECIALIST_BUDGET_SECONDS,
    ),
)

SIMULATION_STAGES = (
    Stage("gate", frozenset({"simulation_gate"}), GATE_SECONDS),
    Stage("specialist", frozenset({"counterpart", "assessment"}), SPECIALIST_SECONDS),
)


def build_oria() -> "StateGraph[Any, Any, Any, Any]":
    from graph.oria.graph import build

    return build()


def read_oria_input(turn: Turn) -> Mapping[str, Any]:
    """Ids only: an unvetted text never reaches the thread (DESIGN 2.3)."""
    return {"turn_id": str(turn.id), "requested_agent": turn.requested_agent}


def read_graph_outcome(values: Mapping[str, Any]) -> Outcome | None:
    """The outcome that the gate or the specialist left, or None."""
    outcome = values.get("outcome")
    return Outcome(**outcome) if outcome else None


def read_oria_agent(values: Mapping[str, Any]) -> str | None:
    """This turn's specialist, or None before the supervisor chose."""
    agent: str | None = values.get("agent")
    return agent


def list_oria_agents(config: TenantConfig) -> Sequence[AgentInfo]:
    """The specialists that the tenant enables, in the registry's order."""
    return [AgentInfo(specialist.id, specialist.name, specialist.description) for specialist in list_enabled(config)]


async def approve_texts(texts: Sequence[str], context: TurnContext) -> Approval:
    from graph.oria.approval import approve

    return await approve(texts, context)


async def remember_oria(context: TurnContext) -> Sequence[str] | None:
    from graph.oria.memory import remember

    return await remember(context)


def build_simulation() -> "StateGraph[Any, Any, Any, Any]":
    from graph.simulation.graph import build

    return build()


def read_simulation_input(turn: Turn) -> Mapping[str, Any]:
    """The id alone: the scenario, the message and the clock are read in the nodes."""
    return {"turn_id": str(turn.id)}


ASSISTANTS: Mapping[str, Assistant] = {
    "oria": Assistant(
        id="oria",
        name="Oria",
        description="A career assistant: guidance, profile, skills and trainings of the person's own organisation.",
        stages=ORIA_STAGES,
        context_schema=TurnContext,
        build=build_oria,
        graph_input=read_oria_input,
        read_outcome=read_graph_outcome,
        read_agent=read_oria_agent,
        approve=approve_texts,
        agents=list_oria_agents,
        remember=remember_oria,
        memory_timeout=MEMORY_SECONDS,
    ),
    "simulation": Assistant(
        id="simulation",
        name="Simulation",
        description="A role-play of a conversation at work, prepared by Oria, with an assessment at its end.",
        stages=SIMULATION_STAGES,
        context_schema=TurnContext,
        build=build_simulation,
        graph_input=read_simulation_input,
        read_outcome=read_graph_outcome,
        read_agent=lambda _: None,
        approve=approve_texts,
        agents=lambda _: (),
        needs_simulation=True,
    ),
}
