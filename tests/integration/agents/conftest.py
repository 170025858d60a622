"""A thread with one specialist: a small graph on an in-memory saver, a scripted model and a real database.

Behind it is the Knowledge Base, as in Oria's graph, for the one specialist that hands over to it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from graph.oria.agents import KNOWLEDGE_BASE, SPECIALISTS
from graph.oria.graph import as_node, route_after_research, run_knowledge_base
from graph.oria.state import OriaState
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.models.client import build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import Tenant, TenantConfig
from oria_runtime.turns.activities import Activities
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.graph_run import STREAM_MODES, follow
from oria_runtime.turns.models import Event, EventType, Turn, TurnStatus
from tests.support.scripted_model import Script, Seen, serve_scripted_model

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
USER = "u-1"
# What the gate resets.
NEW_TURN: dict[str, Any] = {"handover": None, "handed_over": False, "research": None, "shown_cards": []}


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with serve_scripted_model() as served:
        yield served


@dataclass
class Stop:
    """What one run of the graph left: its outcome or its questions, and what the person was shown meanwhile."""

    values: dict[str, Any]
    events: list[Event]
    interrupts: list[Any]

    @property
    def outcome(self) -> dict[str, Any]:
        outcome: dict[str, Any] = self.values["outcome"]
        return outcome

    @property
    def messages(self) -> list[AnyMessage]:
        return list(self.values["messages"])

    @property
    def deltas(self) -> str:
        return "".join(event.data["text"] for event in self.events if event.type == EventType.MESSAGE_DELTA)

    @property
    def questions(self) -> list[dict[str, Any]]:
        assert len(self.interrupts) == 1
        questions: list[dict[str, Any]] = self.interrupts[0].value["questions"]
        return questions

    def activities(self) -> list[tuple[str, str, str]]:
        kinds = (EventType.ACTIVITY_STARTED, EventType.ACTIVITY_COMPLETED)
        return [(e.type.value, e.data["name"], e.data.get("status", "")) for e in self.events if e.type in kinds]


@dataclass
class Conversation:
    """Turns of one thread. The graph is built anew for each run, as a worker does; so is the saver, from its data."""

    script: Script
    database: TenantDatabase
    agent: str = "career_chat"
    config: TenantConfig = field(default_factory=TenantConfig)
    locale: str = "en"
    interactions: bool = True
    user_id: str = USER
    conversation_id: UUID = field(default_factory=uuid4)
    attachments: Sequence[str] = ()
    directive: str | None = None
    channel: str | None = None
    seconds: float = 60.0
    thread: str = field(default_factory=lambda: str(uuid4()))
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    context: TurnContext | None = None
    pending: list[Any] = field(default_factory=list)

    async def say(self, text: str, **state: Any) -> Stop:
        """A new turn."""
        self.context = self.build_context(text)
        turn_id = str(self.context.turn.id)
        return await self.run({"messages": [HumanMessage(text, id=turn_id)], "turn_id": turn_id, **NEW_TURN, **state})

    async def answer(self, *answers: dict[str, Any]) -> Stop:
        """Answers to the pending questions, in their order, by a worker that shares nothing but the saved data."""
        assert self.context is not None
        questions = self.pending[0].value["questions"]
        given = [answer | {"question_id": question["id"]} for question, answer in zip(questions, answers, strict=True)]
        fresh = InMemorySaver()
        fresh.storage, fresh.writes, fresh.blobs = self.saver.storage, self.saver.writes, self.saver.blobs
        self.saver = fresh
        self.context = self.build_context(self.context.turn.message, self.context.turn.id)
        return await self.run(Command(resume={self.pending[0].id: {"answers": given}}))

    async def run(self, given: Any) -> Stop:
        builder: StateGraph[OriaState, TurnContext, Any, Any] = StateGraph(OriaState, context_schema=TurnContext)
        specialist = SPECIALISTS[self.agent]
        builder.add_node(specialist.node, as_node(specialist))
        builder.add_edge(START, specialist.node)
        if self.agent == "career_chat":
            builder.add_conditional_edges(specialist.node, route_after_career_chat, [END, KNOWLEDGE_BASE.node])
            builder.add_node(KNOWLEDGE_BASE.node, run_knowledge_base)
            builder.add_conditional_edges(KNOWLEDGE_BASE.node, route_after_research, [END, specialist.node])
        graph = builder.compile(checkpointer=self.saver)
        config: Any = {"configurable": {"thread_id": self.thread}}
        events: list[Event] = []
        stream = graph.astream(
            given, config, context=self.context, stream_mode=STREAM_MODES, durability="exit", subgraphs=True
        )
        # The node itself is no activity here: these tests are about what happens inside it.
        stop = await follow(stream, Activities(nodes=(), add_event=events.append))
        self.pending = list(stop.interrupts)
        return Stop((await graph.aget_state(config)).values, events, self.pending)

    def build_context(self, text: str, turn_id: UUID | None = None) -> TurnContext:
        tenant_id = self.database.tenant_id
        turn = Turn(
            id=turn_id or uuid4(),
            tenant_id=tenant_id,
            conversation_id=self.conversation_id,
            user_id=self.user_id,
            assistant="oria",
            status=TurnStatus.RUNNING,
            message=text,
            locale=self.locale,
            seq=3,
            stage="specialist",
            agent=self.agent,
            requested_agent=None,
            interactions=self.interactions,
            request={"attachments": list(self.attachments), **({"channel": self.channel} if self.channel else {})},
            outcome=None,
            usage={},
            directive=None,
            head_checkpoint=None,
            created_at=NOW,
            deadline_at=None,
        )
        return TurnContext(
            turn=turn,
            tenant=Tenant(tenant_id, "acme", "Acme", self.config),
            database=self.database,
            models=build_models(ModelSettings(), self.config, environ=self.script.environ),
            now=NOW,
            deadline=asyncio.get_running_loop().time() + self.seconds,
            directive=self.directive,
            token=no_token,
            allow_loopback=True,
        )

    def with_options(self, **changes: Any) -> "Conversation":
        """The same thread under another configuration."""
        return replace(self, **changes)


def route_after_career_chat(state: OriaState) -> str:
    """To research or to the end: there is no supervisor here to go back to."""
    return KNOWLEDGE_BASE.node if state.get("handover") else END


def list_sent(seen: Seen) -> list[dict[str, Any]]:
    """The messages of a request on any wire; what has no role, such as the result of a tool, gives its type instead."""
    if seen.endpoint not in {"responses", "chat/completions"}:
        return []
    sent = seen.body["input"] if seen.endpoint == "responses" else seen.body["messages"]
    return [{"role": message.get("type"), **message} for message in sent]


async def no_token() -> str | None:
    return None


@pytest.fixture
def career_chat(script: Script, database: TenantDatabase) -> Conversation:
    return Conversation(script, database, "career_chat")


@pytest.fixture
def training_finder(script: Script, database: TenantDatabase) -> Conversation:
    return Conversation(script, database, "training_finder")
