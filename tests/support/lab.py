"""An assistant of the engine's own tests: what a turn does is written in its message.

It has what DESIGN §2 speaks of: a gate, parallel nodes inside a stage, an interrupt two subgraphs deep behind a cached
task, a hand-back stage with recovery, and a tool whose side effect is counted outside every transaction of the turn.
A message is a list of words, see `WORDS`.
"""

import asyncio
import operator
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import psycopg
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite, interrupt

from oria_runtime.errors import StageFailedError
from oria_runtime.turns.assistants import Approval, Assistant, Stage
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Option, Outcome, Question, Turn
from oria_runtime.turns.progress import emit_activity_started, emit_delta
from oria_runtime.turns.questions import ask

WORDS = {
    "block": "the gate blocks",
    "doubt": "the gate doubts",
    "<stage>-raise": "a node of that stage raises",
    "<stage>-hang": "a node of that stage waits for ever, but may be cancelled",
    "<stage>-freeze": "a node of that stage blocks the whole process",
    "<stage>-exit": "a node of that stage ends the process",
    "<stage>-stubborn": "a node of that stage ignores its cancellation",
    "slow": "the specialist takes a second",
    "token": "a tool uses the caller's bearer token",
    "litter": "a node leaves a task on the loop",
    "ask": "one interrupt two subgraphs deep",
    "ask-twice": "two in a row",
    "ask-parallel": "two at once, which is a configuration error",
    "choose": "asks for a choice",
    "research": "goes to the knowledge stage and comes back",
    "research-later": "asks first, then goes to the knowledge stage and comes back",
    "effect": "counts a side effect",
    "nul": "answers with a NUL and a lone surrogate",
    "types": "keeps a Decimal and a datetime in state",
    "deltas": "streams its answer",
    "mute": "ends without an outcome",
    "remember": "is worth remembering",
}

SIDE_EFFECTS_SQL = """
create table if not exists oria.side_effects (turn_id uuid, at timestamptz default clock_timestamp())
"""


class LabState(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    research: str | None
    kept: Any
    outcome: dict[str, Any] | None


def words(runtime: Runtime[TurnContext]) -> set[str]:
    return set(runtime.context.turn.message.split())


async def misbehave(stage: str, runtime: Runtime[TurnContext]) -> None:
    said = words(runtime)
    if f"{stage}-raise" in said:
        raise RuntimeError("a node raised")
    if f"{stage}-hang" in said:
        await asyncio.sleep(3600)
    if f"{stage}-freeze" in said:
        time.sleep(3600)  # noqa: ASYNC251 - a node that blocks the loop is what this word is for
    if f"{stage}-exit" in said:
        os._exit(1)
    while f"{stage}-stubborn" in said:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def check(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    await misbehave("gate", runtime)
    turn = runtime.context.turn
    approval = judge([turn.message])
    fresh: dict[str, Any] = {"log": Overwrite(["check"]), "research": None, "outcome": None}
    if approval.decision == "allow":
        return fresh | {"messages": [HumanMessage(turn.message, id=str(turn.id))]}
    return fresh | {"outcome": Outcome(type="boundary", text=approval.text, decision=approval.decision).as_json()}


def judge(texts: Sequence[str]) -> Approval:
    said = " ".join(texts).split()
    if "block" in said:
        return Approval("block", "That is not something I do.")
    return Approval("doubt", "What do you mean?") if "doubt" in said else Approval("allow")


async def approve(texts: Sequence[str], context: TurnContext) -> Approval:
    if "raise" in texts:
        raise StageFailedError("gate_unavailable")
    if "hang" in texts:
        await asyncio.sleep(3600)
    if "freeze" in texts:
        time.sleep(3600)  # noqa: ASYNC251 - see above
    return judge(texts)


def after_check(state: LabState) -> Literal["route", "__end__"]:
    return "__end__" if state.get("outcome") else "route"


async def route(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    await misbehave("supervisor", runtime)
    return {"log": ["route"]}


async def left(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    return {"log": ["left"]}


async def right(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    if "effect" in words(runtime):
        await count_side_effect(runtime.context)
    return {"log": ["right"]}


async def count_side_effect(context: TurnContext) -> None:
    """What a tool does outside: it stands whether or not the stage commits."""
    conninfo = context.database.pool.conninfo
    async with await psycopg.AsyncConnection.connect(str(conninfo), autocommit=True) as connection:
        await connection.execute("insert into oria.side_effects (turn_id) values (%s)", (context.turn.id,))


@task
async def prepare(turn_id: UUID) -> str:
    return f"prepared for {turn_id}"


async def ask_inside(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    said = words(runtime)
    prepared = await prepare(runtime.context.turn.id)
    replies = []
    if "choose" in said:
        options = [Option("o1", "Red"), Option("o2", "Blue")]
        (answer,) = ask([Question("q1", "Which colour?", "single_select", options)])
        replies.append(",".join(answer.option_ids or ()) or "skipped")
    for number in range(("ask" in said) + 2 * ("ask-twice" in said)):
        (answer,) = ask([Question("q1", f"Question {number + 1}?")])
        replies.append(answer.text or "skipped")
    return {"log": [prepared, *replies]}


async def ask_again(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    if "ask-parallel" in words(runtime):
        interrupt({"interaction_id": str(runtime.context.turn.id), "questions": []})
    return {"log": []}


def nested() -> Any:
    inner = StateGraph(LabState, context_schema=TurnContext)
    inner.add_node("ask_inside", ask_inside).add_node("ask_again", ask_again)
    inner.add_edge(START, "ask_inside").add_edge(START, "ask_again")
    middle = StateGraph(LabState, context_schema=TurnContext).add_node("inner", inner.compile())
    return middle.add_edge(START, "inner").compile()


LITTER: set[asyncio.Task[None]] = set()


async def work(state: LabState, runtime: Runtime[TurnContext]) -> Command[Any]:
    await misbehave("specialist", runtime)
    said = words(runtime)
    if "litter" in said:
        LITTER.add(asyncio.create_task(asyncio.sleep(3600)))
    if "slow" in said:
        await asyncio.sleep(1)
    emit_activity_started("a1", "task", "work")
    if "research" in said and state.get("research") is None:
        return Command(goto="research", update={"log": ["handover"]})
    came_back = "research-later" in said and state.get("research") is not None
    asked = {"log": []} if came_back else await nested().ainvoke({"messages": [], "log": []}, context=runtime.context)
    if "research-later" in said and not came_back:
        return Command(goto="research", update={"log": asked["log"]})
    text = answer_text(said, [*state["log"], *asked["log"]], state.get("research"))
    if "token" in said:
        text += f" token:{await runtime.context.token() or 'sign in again'}"
    if "deltas" in said:
        for piece in text.split(" "):
            emit_delta(piece + " ")
    call = {"name": "note", "args": {}, "id": f"call-{runtime.context.turn.id}"}
    messages = [AIMessage("", tool_calls=[call]), ToolMessage("noted", tool_call_id=call["id"]), AIMessage(text)]
    outcome = None if "mute" in said else Outcome(type="message", text=text).as_json()
    kept = (Decimal("1.50"), datetime(2026, 1, 1, tzinfo=UTC)) if "types" in said else state.get("kept")
    return Command(goto=END, update={"messages": messages, "log": asked["log"], "outcome": outcome, "kept": kept})


def answer_text(said: set[str], log: list[str], research: str | None) -> str:
    odd = "\x00\ud800" if "nul" in said else ""
    return f"{' '.join(log)}{f' research:{research}' if research else ''}{odd}"


async def research(state: LabState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    if runtime.context.directive == "unavailable":
        return {"research": "unavailable"}
    await misbehave("knowledge", runtime)
    return {"research": "found"}


def build() -> "StateGraph[Any, Any, Any, Any]":
    graph = StateGraph(LabState, context_schema=TurnContext)
    for node in (check, route, left, right, research):
        graph.add_node(node.__name__, node)
    graph.add_node("work", work, destinations=("research", END))
    graph.add_edge(START, "check").add_conditional_edges("check", after_check)
    graph.add_edge("route", "left").add_edge("route", "right").add_edge(["left", "right"], "work")
    graph.add_edge("research", "work")
    return graph


async def remember(context: TurnContext) -> Sequence[str] | None:
    said = context.turn.message.split()
    if "memory-hang" in said:
        await asyncio.sleep(3600)
    if "memory-freeze" in said:
        time.sleep(3600)  # noqa: ASYNC251 - see above
    if "memory-raise" in said:
        raise RuntimeError("memory raised")
    return [context.turn.message] if "remember" in said else None


def read_outcome(values: Mapping[str, Any]) -> Outcome | None:
    return Outcome(**values["outcome"]) if values.get("outcome") else None


def turn_input(turn: Turn) -> dict[str, Any]:
    return {"outcome": None}


LAB = Assistant(
    id="lab",
    name="Lab",
    description="The engine's test assistant",
    stages=(
        Stage("gate", frozenset({"check"}), 15),
        Stage("supervisor", frozenset({"route"}), 30),
        Stage("specialist", frozenset({"left", "right", "work"}), 180, budget=180),
        Stage("knowledge", frozenset({"research"}), 45, recovery="unavailable"),
    ),
    context_schema=TurnContext,
    build=build,
    graph_input=turn_input,
    read_outcome=read_outcome,
    read_agent=lambda values: "worker" if values.get("log") else None,
    approve=approve,
    agents=lambda _: (),
    remember=remember,
)
ASSISTANTS = {LAB.id: LAB}
