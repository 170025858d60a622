"""Driving the engine inside a test: a bus in memory, and workers that are sandboxes of their own.

What is real: Postgres, the graph, the saver, the stage runner. What is replaced: EventBridge (a list), Lambda (a call).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.publisher import BusEvent
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.acceptance import TurnRequest, accept_turn
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.conversations import Message, create_conversation, list_messages
from oria_runtime.turns.failures import FailureRecord, decide_failure
from oria_runtime.turns.interactions import Response, respond
from oria_runtime.turns.invocation import MARGIN_SECONDS, Invocation
from oria_runtime.turns.memory_runner import ApprovedEvent, run_memory
from oria_runtime.turns.models import Answer, StoredEvent, Turn
from oria_runtime.turns.reading import read_events, read_turn
from oria_runtime.turns.stage_runner import run_stage
from tests.support.database import DatabaseUrls
from tests.support.lab import ASSISTANTS, SIDE_EFFECTS_SQL

USER = "ana"


class Bus:
    """Keeps what was published; `down` makes it refuse."""

    def __init__(self) -> None:
        self.events: list[BusEvent] = []
        self.history: list[BusEvent] = []
        self.down = False

    async def publish(self, events: Sequence[BusEvent]) -> list[bool]:
        if self.down:
            raise ConnectionError("the bus is down")
        self.events += events
        self.history += events
        return [True] * len(events)


@dataclass
class Engine:
    """One tenant, one person, one conversation with the lab."""

    urls: DatabaseUrls
    tenant_id: UUID
    bus: Bus = field(default_factory=Bus)
    registry: Mapping[str, Any] = field(default_factory=lambda: ASSISTANTS)
    seconds: float = 20.0
    kms_key_id: str = ""
    sandboxes: list[Sandbox] = field(default_factory=list)
    conversation_id: UUID | None = None

    def worker(self) -> Sandbox:
        """A sandbox of its own, as another Lambda would be."""
        environ = {
            "DATABASE_URL": self.urls.app,
            "OPENAI_API_KEY": "none",
            "STAGE": "any",
            "KMS_KEY_ID": self.kms_key_id,
        }
        sandbox = Sandbox(environ, registry=self.registry, publisher=self.bus)
        self.sandboxes.append(sandbox)
        return sandbox

    @property
    def front(self) -> Sandbox:
        """The sandbox that stands for the API."""
        return self.sandboxes[0] if self.sandboxes else self.worker()

    @property
    def database(self) -> TenantDatabase:
        return self.front.database(self.tenant_id)

    async def say(self, message: str, **options: Any) -> Turn:
        """Accept a message in the test's conversation, without running anything."""
        if self.conversation_id is None:
            self.conversation_id = (await create_conversation(self.database, USER, "lab")).id
        request = TurnRequest(USER, self.conversation_id, message, "en", **options)
        return (await accept_turn(self.front, self.database, request)).turn

    async def run(self, message: str, **options: Any) -> Turn:
        """Accept a message and run every stage until nothing is left to do."""
        turn = await self.say(message, **options)
        await self.drain()
        return await self.turn(turn.id)

    async def drain(self, sandbox: Sandbox | None = None) -> list[dict[str, Any]]:
        """Deliver events until the bus is empty; returns what the stages said."""
        results = []
        while self.bus.events:
            event = self.bus.events.pop(0)
            if event.detail_type == "turn.stage":
                results.append(await self.stage(event, sandbox))
            elif event.detail_type == "turn.approved":
                results.append(await self.memory(event, sandbox))
        return results

    async def stage(
        self, event: BusEvent, sandbox: Sandbox | None = None, *, request_id: str = "", seconds: float | None = None
    ) -> dict[str, Any]:
        """Run one stage event as a Lambda of `seconds` in-band time would."""
        stage = StageEvent.from_bus({"detail": event.detail})
        return await run_stage(sandbox or self.front, stage, self.invocation(request_id, seconds))

    async def memory(self, event: BusEvent, sandbox: Sandbox | None = None) -> dict[str, Any]:
        return await run_memory(
            sandbox or self.front, ApprovedEvent.from_bus({"detail": event.detail}), self.invocation()
        )

    def invocation(self, request_id: str = "", seconds: float | None = None) -> Invocation:
        ends_at = time.monotonic() + (seconds or self.seconds) + MARGIN_SECONDS
        return Invocation(request_id or str(uuid4()), ends_at)

    async def next_stage(self, name: str) -> BusEvent:
        """Run stages until the event of that one is next; returns it, taken off the bus."""
        while True:
            event = self.bus.events.pop(0)
            if event.detail_type == "turn.stage" and event.detail["stage"] == name:
                return event
            if event.detail_type == "turn.stage":
                await self.stage(event)

    async def fail(self, event: BusEvent, request_id: str, error_type: str = "Sandbox.Timedout") -> dict[str, Any]:
        """Hand Lambda's failure record of a stage event to `turn_failed`."""
        stage = StageEvent.from_bus({"detail": event.detail})
        return await decide_failure(self.front, FailureRecord(stage, request_id, error_type, "RetriesExhausted"))

    async def answer(self, turn: Turn, *answers: Answer, cancel: bool = False) -> Turn:
        """Respond to the turn's open interaction."""
        assert turn.outcome is not None
        interaction_id = UUID(turn.outcome["interaction"]["id"])
        return await respond(self.front, self.database, USER, interaction_id, Response(answers, cancel))

    async def turn(self, turn_id: UUID) -> Turn:
        return await read_turn(self.database, USER, turn_id)

    async def events(self, turn_id: UUID) -> Sequence[StoredEvent]:
        return await read_events(self.database, USER, turn_id)

    async def transcript(self) -> Sequence[Message]:
        assert self.conversation_id is not None
        return (await list_messages(self.database, USER, self.conversation_id, limit=1000)).items

    async def thread_rows(self) -> list[Any]:
        """Everything LangGraph keeps of the conversation, to compare before and after."""
        rows: list[Any] = []
        async with self.database.transaction() as connection:
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                cursor = await connection.execute(f"select t::text as row from {table} t order by 1".encode())
                rows += [(table, row["row"]) for row in await cursor.fetchall()]
        return rows

    async def side_effects(self, turn_id: UUID) -> int:
        async with self.database.transaction() as connection:
            cursor = await connection.execute("select count(*) as n from side_effects where turn_id = %s", (turn_id,))
            row = await cursor.fetchone()
        return row["n"] if row else 0

    async def execute(self, query: str, *arguments: Any) -> None:
        """Change something under the tenant, such as an expiry."""
        async with self.database.transaction() as connection:
            await connection.execute(query.encode(), arguments)

    async def close(self) -> None:
        for sandbox in self.sandboxes:
            await sandbox.close()

    def with_registry(self, registry: Mapping[str, Any]) -> "Engine":
        """The same tenant and conversation after another deploy."""
        return replace(self, registry=registry, sandboxes=[])


def prepare_lab(urls: DatabaseUrls) -> None:
    """The table of counted side effects."""
    from tests.support.database import execute

    execute(urls.owner, SIDE_EFFECTS_SQL, "grant select, insert on oria.side_effects to oria_app")
