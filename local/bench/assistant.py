"""An assistant with Oria's stages, state and window whose nodes call no model: what is left is the engine's own time.

Workers load it by `ASSISTANTS=local.bench.assistant:ASSISTANTS`. Its messages have the size of real ones, with a tool
call, its result and the result's artifact in each turn.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oria_runtime.turns.assistants import Approval, Assistant, Stage
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome, Turn

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.graph import StateGraph

    from graph.oria.state import OriaState

ID: Final = "bench"
GATE, SUPERVISOR, SPECIALIST = "pre_supervisor_gate", "supervisor", "career_chat_agent"
# Characters of what a person writes, a tool finds and an agent answers; five results have identities in the artifact.
QUESTION, FOUND, ANSWERED, RESULTS = 200, 1_500, 800, 5
# A message that starts with this keeps its specialist busy: for what a running turn costs by the second.
SLOW: Final = "slow"
SLOW_SECONDS: Final = 4.0


def write_text(seed: str, characters: int) -> str:
    """Words that differ from turn to turn, so that no compression makes the rows smaller than real ones."""
    words: list[str] = []
    for number in range(characters // 9 + 1):
        words.append(hashlib.sha256(f"{seed}{number}".encode()).hexdigest()[:8])
    return " ".join(words)[:characters]


def read_input(turn: Turn) -> Mapping[str, Any]:
    """What Oria's graph is given, and whether to be slow."""
    return plain_input(str(turn.id), slow=turn.message.startswith(SLOW))


def plain_input(turn_id: str, *, slow: bool = False) -> dict[str, Any]:
    """The same without a turn row, for the run in one process."""
    return {"turn_id": turn_id, "requested_agent": SLOW if slow else None}


async def run_gate(state: "OriaState") -> dict[str, Any]:
    from langchain_core.messages import HumanMessage

    turn_id = state["turn_id"]
    message = HumanMessage(write_text(turn_id, QUESTION), id=turn_id)
    return {"messages": [message], "decision": "allow", "agent": None, "outcome": None}


async def run_supervisor(state: "OriaState") -> dict[str, Any]:
    """Cut the window as Oria's supervisor does, with a summary that needs no model."""
    from langchain_core.messages import RemoveMessage
    from langgraph.graph.message import REMOVE_ALL_MESSAGES

    from graph.oria.window import cut_window, exceeds_window
    from graph.policy import KEPT_MESSAGES, KEPT_TOKENS

    update: dict[str, Any] = {"agent": "career_chat", "active_agent": "career_chat"}
    messages = state["messages"]
    if exceeds_window(messages):
        kept = cut_window(messages, KEPT_MESSAGES, KEPT_TOKENS)
        update |= {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept], "summary": write_text("summary", 2_000)}
    return update


async def run_specialist(state: "OriaState") -> dict[str, Any]:
    if state["requested_agent"] == SLOW:
        await asyncio.sleep(SLOW_SECONDS)
    messages = list_work(state["turn_id"])
    return {"messages": messages, "outcome": Outcome(type="message", text=str(messages[-1].content)).as_json()}


def list_work(turn_id: str) -> "list[AnyMessage]":
    """A tool call, its result with identities, and the answer."""
    from langchain_core.messages import AIMessage, ToolMessage

    call = {"name": "get_trainings_tool", "args": {"query": write_text(turn_id, 60)}, "id": f"call-{turn_id}"}
    items = [{"id": write_text(f"{turn_id}-{number}", 36), "title": f"Result {number}"} for number in range(RESULTS)]
    artifact = {"card_type": "trainingSuggestionList", "items": items}
    found = write_text(f"found-{turn_id}", FOUND)
    return [
        AIMessage("", tool_calls=[call], id=f"{turn_id}:call"),
        ToolMessage(found, tool_call_id=call["id"], artifact=artifact, id=f"{turn_id}:result"),
        AIMessage(write_text(f"answer-{turn_id}", ANSWERED), id=f"{turn_id}:answer"),
    ]


def build() -> "StateGraph[Any, Any, Any, Any]":
    """Gate, supervisor, one specialist; uncompiled."""
    from langgraph.graph import END, START, StateGraph

    from graph.oria.state import OriaState

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(OriaState, context_schema=TurnContext)
    graph.add_node(GATE, run_gate, input_schema=OriaState)
    graph.add_node(SUPERVISOR, run_supervisor, input_schema=OriaState)
    graph.add_node(SPECIALIST, run_specialist, input_schema=OriaState)
    graph.add_edge(START, GATE).add_edge(GATE, SUPERVISOR).add_edge(SUPERVISOR, SPECIALIST)
    return graph.add_edge(SPECIALIST, END)


def read_outcome(values: Mapping[str, Any]) -> Outcome | None:
    return Outcome(**values["outcome"]) if values.get("outcome") else None


async def approve(texts: Sequence[str], context: TurnContext) -> Approval:  # noqa: ARG001 - the registry's signature
    return Approval("allow")


ASSISTANTS: Mapping[str, Assistant] = {
    ID: Assistant(
        id=ID,
        name="Bench",
        description="Oria's stages without a model",
        stages=(
            Stage("gate", frozenset({GATE}), 15),
            Stage("supervisor", frozenset({SUPERVISOR}), 30),
            Stage("specialist", frozenset({SPECIALIST}), 180, budget=180),
        ),
        context_schema=TurnContext,
        build=build,
        graph_input=read_input,
        read_outcome=read_outcome,
        read_agent=lambda values: values.get("agent"),
        approve=approve,
        agents=lambda _: (),
    )
}


def list_all() -> Mapping[str, Assistant]:
    """This one beside Oria, for what is measured on both."""
    from graph.registry import ASSISTANTS as PRODUCT

    return {**ASSISTANTS, **PRODUCT}
