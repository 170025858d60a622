"""A person who talks to Oria's control nodes: real Postgres, real HTTP to a scripted model, LangGraph's own saver."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from graph.oria.agents import SPECIALISTS
from graph.oria.graph import build
from graph.registry import ASSISTANTS
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import Tenant, TenantConfig
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Turn, TurnStatus
from oria_runtime.turns.transcript import append_message
from tests.support.scripted_model import Script, serve_scripted_model

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NODES = [specialist.node for specialist in SPECIALISTS.values()]
STRUCTURED: dict[str, Any] = {"models": {"mini": {"decisions": "structured"}}}

INSERT_CONVERSATION_SQL = "insert into conversations (id, tenant_id, user_id, assistant) values (%s, %s, %s, 'oria')"
INSERT_TURN_SQL = """
insert into turns (id, tenant_id, conversation_id, user_id, assistant, status, message, locale)
values (%s, %s, %s, %s, 'oria', 'completed', %s, %s)
"""


async def no_token() -> str | None:
    return None


def spread(probabilities: Mapping[str, float]) -> list[dict[str, Any]]:
    """A distribution as the decisions endpoint writes it."""
    return [{"value": value, "probability": share} for value, share in probabilities.items()]


@dataclass
class Person:
    """One conversation. `say` runs a turn through gate and supervisor and stops before the specialist."""

    database: TenantDatabase
    script: Script
    config: TenantConfig
    id: str = "ada"
    conversation: UUID = field(default_factory=uuid4)
    seconds: float = 10.0
    saver: InMemorySaver = field(default_factory=InMemorySaver)

    def __post_init__(self) -> None:
        self.graph = build().compile(checkpointer=self.saver, interrupt_before=NODES)
        self.config_of_thread: RunnableConfig = {"configurable": {"thread_id": str(self.conversation)}}

    async def open(self) -> "Person":
        """Create the conversation's row."""
        async with self.database.transaction() as connection:
            arguments = (self.conversation, self.database.tenant_id, self.id)
            await connection.execute(INSERT_CONVERSATION_SQL, arguments)
        return self

    async def start_turn(self, text: str, locale: str = "en", agent: str | None = None) -> Turn:
        """Accept a message as the engine does: a turn row and a transcript row."""
        turn = Turn(
            id=uuid4(),
            tenant_id=self.database.tenant_id,
            conversation_id=self.conversation,
            user_id=self.id,
            assistant="oria",
            status=TurnStatus.RUNNING,
            message=text,
            locale=locale,
            seq=1,
            stage="gate",
            agent=None,
            requested_agent=agent,
            interactions=True,
            request={},
            outcome=None,
            usage={},
            directive=None,
            head_checkpoint=None,
            created_at=NOW,
            deadline_at=None,
        )
        async with self.database.transaction() as connection:
            await connection.execute(
                INSERT_TURN_SQL, (turn.id, turn.tenant_id, turn.conversation_id, turn.user_id, text, locale)
            )
            await append_message(connection, turn.conversation_id, turn.id, "user", text)
        return turn

    async def write(self, turn: Turn, role: Any, text: str) -> None:
        """Append to the transcript."""
        async with self.database.transaction() as connection:
            await append_message(connection, turn.conversation_id, turn.id, role, text)

    def models(self) -> Models:
        return build_models(ModelSettings(), self.config, environ=self.script.environ)

    def context(self, turn: Turn) -> TurnContext:
        """The request context of a stage of this turn, with `seconds` left."""
        return TurnContext(
            turn=turn,
            tenant=Tenant(self.database.tenant_id, "acme", "Acme", self.config),
            database=self.database,
            models=self.models(),
            now=NOW,
            deadline=asyncio.get_running_loop().time() + self.seconds,
            directive=None,
            token=no_token,
        )

    async def run(self, turn: Turn) -> dict[str, Any]:
        """Run the turn up to the specialist; the state's values."""
        graph_input = ASSISTANTS["oria"].graph_input(turn)
        values: dict[str, Any] = await self.graph.ainvoke(
            graph_input, self.config_of_thread, context=self.context(turn), durability="exit"
        )
        return values

    async def say(self, text: str, locale: str = "en", agent: str | None = None) -> dict[str, Any]:
        return await self.run(await self.start_turn(text, locale, agent))

    async def read_next(self) -> tuple[str, ...]:
        """The nodes that would run next."""
        return (await self.graph.aget_state(self.config_of_thread)).next

    async def read_values(self) -> dict[str, Any]:
        return dict((await self.graph.aget_state(self.config_of_thread)).values)

    async def answer(self, *messages: AnyMessage) -> None:
        """Write what a specialist would have returned into the state."""
        await self.graph.aupdate_state(self.config_of_thread, {"messages": list(messages)}, as_node=NODES[0])

    def with_config(self, config: dict[str, Any]) -> "Person":
        """The same person at a tenant that is configured like this."""
        return replace(self, config=TenantConfig.model_validate(config))


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with serve_scripted_model() as script:
        yield script


@pytest.fixture
async def person(database: TenantDatabase, script: Script) -> Person:
    return await Person(database, script, TenantConfig()).open()
