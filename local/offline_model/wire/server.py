"""A small HTTP/1.1 server on asyncio: JSON and event streams, keep-alive, and connections that can be dropped.

Not uvicorn, because a scripted server must break off in the middle of an answer, stop within a millisecond while
requests hang, and live inside a test's event loop as well as in a thread of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import h11

CHUNK = 65_536


@dataclass(frozen=True)
class HttpRequest:
    """A whole request. Header names are lower case; `peer` names the connection that it came by."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    peer: str = ""

    def read_json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body or b"null")


@dataclass(frozen=True)
class HttpReply:
    """A status with a body, or with the pieces of one as they come."""

    status: int
    body: bytes | AsyncIterator[bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


class DroppedConnectionError(Exception):
    """Raised by a handler or its stream to break the connection off without another byte."""


Handler = Callable[[HttpRequest], Awaitable[HttpReply]]


def reply_json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpReply:
    """A JSON reply."""
    return HttpReply(status, json.dumps(body, ensure_ascii=False).encode(), headers=headers or {})


def reply_error(status: int, message: str, headers: Mapping[str, str] | None = None, code: str = "") -> HttpReply:
    """An error as the OpenAI API words it."""
    error = {"message": message, "type": "error", "param": None, "code": code or None}
    return reply_json({"error": error}, status, headers)


@asynccontextmanager
async def serve(handler: Handler, port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Serve until the context ends; gives the address. Open connections are dropped at the end."""
    connections: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio runs this callback as a task
        connections.add(task)
        try:
            await Connection(reader, writer, handler).run()
        finally:
            connections.discard(task)

    server = await asyncio.start_server(accept, host, port)
    try:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        running = list(connections)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()


class Connection:
    """One client connection: requests one after the other until either side closes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self._protocol = h11.Connection(h11.SERVER)

    async def run(self) -> None:
        """Serve the connection's requests. A peer that is gone is no error."""
        try:
            with suppress(ConnectionError, h11.RemoteProtocolError, DroppedConnectionError):
                while (request := await self._read_request()) is not None:
                    await self._write_reply(await self._handle_while_connected(request))
                    if self._protocol.our_state is not h11.DONE:
                        break
                    self._protocol.start_next_cycle()
        finally:
            self._writer.transport.abort()

    async def _read_request(self) -> HttpRequest | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._protocol.next_event()
            if event is h11.NEED_DATA:
                self._protocol.receive_data(await self._reader.read(CHUNK))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
                peer = ":".join(map(str, self._writer.get_extra_info("peername") or ()))
                return HttpRequest(head.method.decode(), head.target.decode(), headers, bytes(body), peer)
            else:
                return None

    async def _handle_while_connected(self, request: HttpRequest) -> HttpReply:
        """The reply, unless the client hangs up first: then the handler is cancelled as a real server would."""
        handling = asyncio.ensure_future(self._handler(request))
        leaving = asyncio.ensure_future(self._reader.read(CHUNK))
        try:
            await asyncio.wait({handling, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not handling.done() and not leaving.result():
                raise DroppedConnectionError
            if leaving.done():
                self._protocol.receive_data(leaving.result())
            return await handling
        finally:
            for task in (handling, leaving):
                task.cancel()
            await asyncio.gather(handling, leaving, return_exceptions=True)

    async def _write_reply(self, reply: HttpReply) -> None:
        headers = [("content-type", reply.content_type), *reply.headers.items()]
        if isinstance(reply.body, bytes):
            headers.append(("content-length", str(len(reply.body))))
        else:
            headers.append(("transfer-encoding", "chunked"))
        await self._send(h11.Response(status_code=reply.status, headers=headers))
        if isinstance(reply.body, bytes):
            await self._send(h11.Data(data=reply.body))
        else:
            async for piece in reply.body:
                await self._send(h11.Data(data=piece))
        await self._send(h11.EndOfMessage())

    async def _send(self, event: h11.Event) -> None:
        self._writer.write(self._protocol.send(event) or b"")
        await self._writer.drain()


def render_events(events: Iterable[Mapping[str, Any]], *, named: bool) -> list[bytes]:
    """Server-sent events: named by their type (responses), or unnamed and closed by [DONE] (chat completions)."""
    rendered = [
        (f"event: {event['type']}\n" if named else "").encode() + b"data: " + json.dumps(event).encode() + b"\n\n"
        for event in events
    ]
    return rendered if named else [*rendered, b"data: [DONE]\n\n"]
