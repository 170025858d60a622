"""Oria's graph: gate, supervisor, one specialist, and research behind Career Chat.

    START → pre_supervisor_gate ─┬─ block, doubt → END
                                 ├─ allow, agent named → <agent>_agent → END
                                 └─ allow → supervisor → <agent>_agent ─┬─ END
                                                ▲                       │
                                                └── person confirmed ───┘  (once a turn)

    career_chat_agent → handover → knowledge_base_agent ─┬─ supported → END  (once a turn)
            ▲                                            │
            └───────────── miss, unavailable ────────────┘

Memory is a function of its own on `turn.approved` (DESIGN 2.5), not a node.
"""

from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from graph.oria.agents import KNOWLEDGE_BASE, SPECIALISTS, Specialist
from graph.oria.gate import run_gate
from graph.oria.state import OriaState
from graph.oria.supervisor import run_supervisor
from graph.oria.window import exceeds_window
from oria_runtime.turns.context import TurnContext

GATE = "pre_supervisor_gate"
SUPERVISOR = "supervisor"
CAREER_CHAT = SPECIALISTS["career_chat"]


class SpecialistNode(Protocol):
    """A node as LangGraph types it: the runtime is passed by name."""

    async def __call__(self, state: OriaState, runtime: Runtime[TurnContext]) -> dict[str, Any]: ...


def build() -> StateGraph[OriaState, TurnContext, Any, Any]:
    """The uncompiled graph; the stage runner compiles it with its own saver."""
    builder: StateGraph[OriaState, TurnContext, Any, Any] = StateGraph(OriaState, context_schema=TurnContext)
    nodes = [specialist.node for specialist in SPECIALISTS.values()]
    builder.add_node(GATE, run_gate)
    builder.add_node(SUPERVISOR, run_supervisor, destinations=tuple(nodes))
    builder.add_edge(START, GATE)
    builder.add_conditional_edges(GATE, route_after_gate, [END, SUPERVISOR, *nodes])
    for specialist in SPECIALISTS.values():
        builder.add_node(specialist.node, as_node(specialist))
        following = [KNOWLEDGE_BASE.node] if specialist is CAREER_CHAT else []
        builder.add_conditional_edges(specialist.node, route_after_specialist, [END, SUPERVISOR, *following])
    builder.add_node(KNOWLEDGE_BASE.node, run_knowledge_base)
    builder.add_conditional_edges(KNOWLEDGE_BASE.node, route_after_research, [END, CAREER_CHAT.node])
    return builder


def as_node(specialist: Specialist) -> SpecialistNode:
    """A function with the annotations by which LangGraph finds the node's input and injects the runtime."""

    async def run_specialist(state: OriaState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
        return await specialist.run(state, runtime)

    return run_specialist


async def run_knowledge_base(state: OriaState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node of research, imported when it first runs, as those of the specialists."""
    from graph.oria.agents.knowledge_base.agent import answer_handover

    return await answer_handover(state, runtime)


def route_after_gate(state: OriaState) -> str:
    """The next node. A named agent needs no routing, but a full window needs the supervisor's summary all the same."""
    if state["decision"] != "allow":
        return END
    requested = state.get("requested_agent")
    if requested is None or exceeds_window(state["messages"]):
        return SUPERVISOR
    return SPECIALISTS[requested].node


def route_after_specialist(state: OriaState) -> str:
    """A handover goes to research; a confirmed person sends the turn back to the supervisor, for the request that they
    were looked up for."""
    if state.get("handover") is not None:
        return KNOWLEDGE_BASE.node
    return SUPERVISOR if state.get("returning") else END


def route_after_research(state: OriaState) -> str:
    """A supported answer ends the turn; everything else is for Career Chat to explain."""
    return END if state.get("research") == "supported" else CAREER_CHAT.node
