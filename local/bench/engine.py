"""The engine inside this process: a conversation grows hundreds of turns in seconds, by the same stage runner."""

import contextlib
import io
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from local.bench.assistant import ASSISTANTS
from oria_runtime.publisher import BusEvent
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.acceptance import TurnRequest, accept_turn
from oria_runtime.turns.assistants import Registry
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.conversations import create_conversation
from oria_runtime.turns.invocation import Invocation
from oria_runtime.turns.stage_runner import run_stage

STAGE_SECONDS = 15.0


class ListBus:
    """A publisher that keeps stage events for whoever drains it."""

    def __init__(self) -> None:
        self.events: list[BusEvent] = []

    async def publish(self, events: Sequence[BusEvent]) -> list[bool]:
        self.events += [event for event in events if event.detail_type == "turn.stage"]
        return [True] * len(events)


class EngineInProcess:
    """Accepts turns of one person and runs their stages, without HTTP, bus and workers."""

    def __init__(self, app_url: str, tenant_id: UUID, user: str, registry: Registry = ASSISTANTS) -> None:
        self._bus = ListBus()
        environ = {"DATABASE_URL": app_url, "OPENAI_API_KEY": "none"}
        self._sandbox = Sandbox(environ, registry=registry, publisher=self._bus)
        self._database = self._sandbox.database(tenant_id)
        self._user = user

    async def run_turn(self, conversation: UUID, message: str) -> float:
        """One turn from its acceptance to the end of its last stage; seconds."""
        # Metrics go to standard output, where Lambda reads them; here they would drown the report.
        with contextlib.redirect_stdout(io.StringIO()):
            return await self._run_turn(conversation, message)

    async def _run_turn(self, conversation: UUID, message: str) -> float:
        started = time.perf_counter()
        await self._accept(conversation, message)
        while self._bus.events:
            event = StageEvent.from_bus({"detail": self._bus.events.pop(0).detail})
            await run_stage(self._sandbox, event, Invocation(str(uuid4()), time.monotonic() + STAGE_SECONDS))
        return time.perf_counter() - started

    async def accept(self, assistant: str, message: str) -> dict[str, Any]:
        """The bus event of a first stage: a turn of a new conversation is accepted, and nothing runs it here."""
        conversation = await create_conversation(self._database, self._user, assistant)
        await self._accept(conversation.id, message)
        return {"detail": self._bus.events.pop().detail}

    async def _accept(self, conversation: UUID, message: str) -> None:
        await accept_turn(self._sandbox, self._database, TurnRequest(self._user, conversation, message, "en"))

    async def close(self) -> None:
        await self._sandbox.close()
