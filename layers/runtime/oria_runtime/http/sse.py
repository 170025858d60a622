"""The events of a turn as server-sent events (DESIGN §6), polled from Postgres.

No connection is held between polls, and a database that stops answering ends nothing: the stream goes on with
heartbeats and reads again. A client that leaves ends the stream and nothing else (DESIGN §2.4).
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from psycopg import OperationalError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from oria_runtime.errors import NotFoundError, UnavailableError
from oria_runtime.observability import describe, logger
from oria_runtime.turns.models import TERMINAL_EVENTS, EventType, StoredEvent

HEARTBEAT = b": heartbeat\n\n"
ENDS = frozenset(TERMINAL_EVENTS.values())
# Both leave the turn waiting for the person, which may take days.
PAUSES = frozenset({EventType.INTERACTION_REQUESTED, EventType.INTERACTION_REJECTED})

ReadEvents = Callable[[int], Awaitable[Sequence[StoredEvent]]]
IsSettled = Callable[[], Awaitable[bool]]


@dataclass(frozen=True)
class Pace:
    """Seconds. `lively` is how long after an event the stream polls at `fast`; after `cut` it tells the client to come
    back in `retry` and closes, well before Lambda's 15 minutes; one read may take `read`."""

    fast: float = 0.25
    lively: float = 3.0
    slow: float = 1.0
    heartbeat: float = 15.0
    cut: float = 300.0
    retry: float = 0.5
    read: float = 5.0


def frame_event(event: StoredEvent) -> bytes:
    """One frame. The data is one line, because SDK clients join several without a line break."""
    data: dict[str, Any] = {"v": 1, "turn_id": str(event.turn_id), "seq": event.seq, "type": event.type.value}
    data |= {"at": event.at.isoformat()} | {key: value for key, value in event.data.items() if key not in data}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {event.seq}\nevent: {event.type.value}\ndata: {text}\n\n".encode()


class EventStream:
    """The events of one connection: what was missed, what happens, and the end.

    `read` gives the events after a number; `is_settled` says whether the turn has ended or waits for the person. `cut`
    tells an end that is none: the connection had lived long enough.
    """

    def __init__(self, read: ReadEvents, is_settled: IsSettled, first: Sequence[StoredEvent], pace: Pace) -> None:
        self._read = read
        self._is_settled = is_settled
        self._pace = pace
        self._batch = first
        self._spoke = 0.0
        self._paused = False
        self._settled = False
        self.cut = False

    async def frames(self, after: int) -> AsyncGenerator[bytes]:
        """Frames until the turn ends or pauses, or the connection has lived long enough."""
        yield b": connected\n\n"
        async with aclosing(self.follow(after)) as events:
            async for event in events:
                yield HEARTBEAT if event is None else frame_event(event)
        if self.cut:
            yield f"retry: {int(self._pace.retry * 1000)}\n\n".encode()

    async def follow(self, after: int) -> AsyncGenerator[StoredEvent | None]:
        """Events until the turn ends or pauses, or `cut`; None whenever nothing has happened for a heartbeat."""
        started = lively = self._spoke = time.monotonic()
        while True:
            for event in self._batch:
                yield event
            if self._batch:
                after, lively = self._batch[-1].seq, time.monotonic()
                self._spoke = lively
            if self._is_over():
                return
            if time.monotonic() - started >= self._pace.cut:
                self.cut = True
                return
            async with aclosing(self._beat_while_reading(after, lively)) as beats:
                async for _ in beats:
                    yield None

    def _is_over(self) -> bool:
        """A terminal event is the last one. A pause is the end unless somebody has answered meanwhile."""
        if not self._batch:
            return self._settled
        self._paused = self._batch[-1].type in PAUSES
        return self._batch[-1].type in ENDS

    async def _beat_while_reading(self, after: int, lively: float) -> AsyncGenerator[None]:
        """Beats while the next batch is read, which a hanging database may make long."""
        reading = asyncio.create_task(self._read_next(after, lively))
        try:
            while not (await asyncio.wait({reading}, timeout=self._until_heartbeat()))[0]:
                self._spoke = time.monotonic()
                yield
            self._batch = reading.result()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _until_heartbeat(self) -> float:
        return max(0.0, self._spoke + self._pace.heartbeat - time.monotonic())

    async def _read_next(self, after: int, lively: float) -> Sequence[StoredEvent]:
        if not self._paused:
            fresh = time.monotonic() - lively < self._pace.lively
            await asyncio.sleep(self._pace.fast if fresh else self._pace.slow)
        while True:
            try:
                async with asyncio.timeout(self._pace.read):
                    return await self._look(after)
            except (OperationalError, UnavailableError, TimeoutError) as error:
                logger.warning("event stream cannot read", extra=describe(error))
                await asyncio.sleep(self._pace.slow)

    async def _look(self, after: int) -> Sequence[StoredEvent]:
        """The turn first, then its events: what settled before the look has its last event in it."""
        try:
            settled = self._paused and await self._is_settled()
            batch = await self._read(after)
        except NotFoundError:
            # The conversation was deleted under the stream.
            settled, batch = True, ()
        self._settled, self._paused = settled, False
        return batch


class EventStreamResponse(Response):
    """Sends frames until they end or the client leaves; either way all that it started is over when it returns."""

    def __init__(self, frames: AsyncGenerator[bytes]) -> None:
        # X-Accel-Buffering: proxies of the nginx kind would hold frames back.
        super().__init__(
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}, media_type="text/event-stream"
        )
        del self.headers["content-length"]
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        tasks = [asyncio.create_task(self._send_frames(send)), asyncio.create_task(wait_for_disconnect(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_frames(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._frames) as frames:
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def wait_for_disconnect(receive: Receive) -> None:
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
