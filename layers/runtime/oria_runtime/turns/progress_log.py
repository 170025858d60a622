"""Progress events of a running stage: batched for 200 ms and fenced by the claim (DESIGN §2.1).

They are the only thing a stage shows before its commit. Neighbouring deltas of a batch become one event.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import psycopg
from psycopg_pool import PoolTimeout

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.observability import describe, logger
from oria_runtime.turns.claim import Claim
from oria_runtime.turns.events import APPEND_PROGRESS_SQL, event_arguments
from oria_runtime.turns.models import Event, EventType

BATCH_SECONDS = 0.2


class ProgressLog:
    """Where the stage runner puts events as the graph's stream yields them."""

    def __init__(self, control: TenantDatabase, claim: Claim) -> None:
        self._control = control
        self._claim = claim
        self._waiting: list[Event] = []
        self._added = asyncio.Event()
        # The last flush waits for a batch that is being written: what ends the writer would take it back.
        self._writing = asyncio.Lock()

    def add(self, event: Event) -> None:
        self._waiting.append(event)
        self._added.set()

    async def write_batches(self) -> None:
        """Write for ever, a batch at a time."""
        while True:
            await self._added.wait()
            await asyncio.sleep(BATCH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write what waits. A database that is away loses these events, never the turn."""
        async with self._writing:
            await self._write_waiting()

    async def _write_waiting(self) -> None:
        self._added.clear()
        events, self._waiting = merge_deltas(self._waiting), []
        if not events:
            return
        try:
            async with self._control.transaction() as connection:
                arguments = event_arguments(self._claim.turn.id, events) | self._claim.fence
                await connection.execute(APPEND_PROGRESS_SQL, arguments)
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError) as error:
            logger.warning("progress not written", extra=describe(error))


@asynccontextmanager
async def open_progress(control: TenantDatabase, claim: Claim) -> AsyncIterator[ProgressLog]:
    """A log whose batches are written beside the stage; what waits at the end is written before it returns."""
    log = ProgressLog(control, claim)
    writing = asyncio.create_task(log.write_batches(), name="progress")
    try:
        yield log
        await log.flush()
    except Exception:
        # A failed stage has ended its activities: a client that saw them begin is told.
        await log.flush()
        raise
    finally:
        writing.cancel()
        await asyncio.wait({writing})


def merge_deltas(events: Sequence[Event]) -> list[Event]:
    """The same events with neighbouring deltas joined."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if last and last.type is event.type is EventType.MESSAGE_DELTA:
            merged[-1] = Event(EventType.MESSAGE_DELTA, {"text": last.data["text"] + event.data["text"]})
        else:
            merged.append(event)
    return merged
