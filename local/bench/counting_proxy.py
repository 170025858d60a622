"""A proxy between one function and Postgres that counts what goes over the wire (protocol 3.0, not encrypted)."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

HEADER_BYTES = 5
STARTUP_HEADER_BYTES = 4
# Statements that carry the work of none: they open, close and label transactions, or see whether a connection lives.
HOUSEKEEPING = ("begin", "commit", "rollback", "select set_config(")
CHUNK_BYTES = 65536


@dataclass
class Wire:
    """What was counted: executed statements by kind, waits for the server, new connections."""

    statements: Counter[str] = field(default_factory=Counter)
    round_trips: int = 0
    connections: int = 0

    def reset(self) -> None:
        self.statements.clear()
        self.round_trips = self.connections = 0

    def count(self, statement: str) -> None:
        text = statement.strip().lower()
        self.statements["housekeeping" if not text or text.startswith(HOUSEKEEPING) else "work"] += 1


class Session:
    """Reads one client's messages as they pass. A round trip begins when the client speaks after the server has."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._buffer = bytearray()
        self._started = False
        self._parsed = ""
        self._server_spoke = True

    def server_spoke(self) -> None:
        self._server_spoke = True

    def client_spoke(self, data: bytes) -> None:
        self._buffer += data
        if self._server_spoke and self._started:
            self._wire.round_trips += 1
        self._server_spoke = False
        while self._take_message():
            pass

    def _take_message(self) -> bool:
        # The startup message has no type byte, and its length stands first.
        skipped = 0 if not self._started else 1
        if len(self._buffer) < skipped + STARTUP_HEADER_BYTES:
            return False
        size = skipped + int.from_bytes(self._buffer[skipped : skipped + STARTUP_HEADER_BYTES])
        if len(self._buffer) < size:
            return False
        message = bytes(self._buffer[:size])
        del self._buffer[:size]
        if self._started:
            self._look(chr(message[0]), message[HEADER_BYTES:])
        self._started = True
        return True

    def _look(self, kind: str, body: bytes) -> None:
        if kind == "Q":
            self._wire.count(body.partition(b"\0")[0].decode())
        elif kind == "P":
            self._parsed = body.split(b"\0", 2)[1].decode()
        elif kind == "E":
            self._wire.count(self._parsed)


class CountingProxy:
    """Listens on a free port; `upstream` is the folder of the server's socket, set before the first client comes."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.upstream = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen; the port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.wire.connections += 1
        server_reader, server_writer = await asyncio.open_unix_connection(f"{self.upstream}/.s.PGSQL.5432")
        session = Session(self.wire)
        pumps = [
            asyncio.create_task(_pump(reader, server_writer, session.client_spoke)),
            asyncio.create_task(_pump(server_reader, writer, lambda _: session.server_spoke())),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            server_writer.close()
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, look: Callable[[bytes], None]) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(CHUNK_BYTES):
            look(data)
            writer.write(data)
            await writer.drain()
