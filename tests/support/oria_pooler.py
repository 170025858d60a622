"""A connection pooler in transaction mode, as PgBouncer and RDS Proxy are, in front of the tests' Postgres.

Clients keep their connection; each transaction goes to the next of a few server connections, in turn, so that whatever
a session left on one server (a prepared statement, a setting) is missing on the next. Protocol: PostgreSQL 3.0
message flow; a server is free again when it said ReadyForQuery with status idle to everything that was asked.
"""

import asyncio
import struct
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.database import DatabaseUrls

SSL_REQUEST = 80877103
GSS_REQUEST = 80877104
READY = b"Z"
IDLE = b"I"
# Query and Sync are what a server answers with ReadyForQuery.
ASKING = (b"Q", b"S")


@dataclass
class Server:
    """A server connection with the greeting it gave after its start."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    greeting: bytes


@dataclass
class Pooler:
    """`transactions` counts what went to each server; `delay` holds every transaction back, in seconds."""

    socket: str
    size: int
    servers: deque[Server] = field(default_factory=deque)
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    clients: set[asyncio.StreamWriter] = field(default_factory=set)
    transactions: dict[int, int] = field(default_factory=dict)
    accepted: int = 0
    delay: float = 0.0
    opened: bool = False

    def cut_clients(self) -> None:
        """Break every client connection off, as an idle timeout on the way does."""
        for writer in list(self.clients):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.clients.add(writer)
        self.accepted += 1
        try:
            startup = await read_startup(reader, writer)
            await self.open(startup)
            writer.write(self.servers[0].greeting)
            while True:
                await self.relay(await read_message(reader), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self.clients.discard(writer)
            writer.close()

    async def open(self, startup: bytes) -> None:
        """Open the servers with the first client's start-up packet."""
        if self.opened:
            return
        self.opened = True
        for _ in range(self.size):
            reader, writer = await asyncio.open_unix_connection(self.socket)
            writer.write(startup)
            greeting = b""
            while not (message := await read_message(reader)).startswith(READY):
                greeting += message
            self.servers.append(Server(reader, writer, greeting + message))
            self.free.release()

    async def relay(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One transaction of a client on the next server."""
        if first[:1] == b"X":
            raise ConnectionResetError
        await self.free.acquire()
        server = self.servers.popleft()
        try:
            await asyncio.sleep(self.delay)
            self.transactions[id(server)] = self.transactions.get(id(server), 0) + 1
            await pump(first, reader, writer, server)
        finally:
            self.servers.append(server)
            self.free.release()


async def pump(first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server) -> None:
    """Both directions until the server is idle and owes no answer."""
    owed = 1 if first[:1] in ASKING else 0
    server.writer.write(first)
    asking = asyncio.ensure_future(read_message(reader))
    answering = asyncio.ensure_future(read_message(server.reader))
    try:
        while True:
            await asyncio.wait({asking, answering}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                message = asking.result()
                owed += message[:1] in ASKING
                server.writer.write(message)
                asking = asyncio.ensure_future(read_message(reader))
            if answering.done():
                message = answering.result()
                writer.write(message)
                owed -= message[:1] == READY
                if message[:1] == READY and message[-1:] == IDLE and owed == 0 and not asking.done():
                    return
                answering = asyncio.ensure_future(read_message(server.reader))
    finally:
        for task in (asking, answering):
            task.cancel()
        await asyncio.gather(asking, answering, return_exceptions=True)


async def read_startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The start-up packet, after refusing encryption."""
    while True:
        head = await reader.readexactly(4)
        packet = head + await reader.readexactly(struct.unpack("!i", head)[0] - 4)
        if struct.unpack("!i", packet[4:8])[0] not in (SSL_REQUEST, GSS_REQUEST):
            return packet
        writer.write(b"N")


async def read_message(reader: asyncio.StreamReader) -> bytes:
    """One message of the protocol, whole; a read that is cancelled must have taken nothing."""
    while True:
        # Bytes stay in the reader until a whole message is there: the next transaction's reader must find them.
        buffered = bytes(reader._buffer)  # type: ignore[attr-defined]
        if len(buffered) >= 5 and len(buffered) >= (size := 1 + struct.unpack("!i", buffered[1:5])[0]):
            return await reader.readexactly(size)
        if reader.at_eof():
            raise asyncio.IncompleteReadError(buffered, None)
        await reader._wait_for_data("read_message")  # type: ignore[attr-defined]


@asynccontextmanager
async def run_pooler(urls: DatabaseUrls, size: int = 2) -> AsyncIterator[tuple[Pooler, DatabaseUrls]]:
    """The pooler, and the database's URLs by way of it (TCP on a free port)."""
    found = conninfo_to_dict(urls.app)
    pooler = Pooler(f"{found['host']}/.s.PGSQL.{found.get('port', 5432)}", size)
    listening = await asyncio.start_server(pooler.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        app = make_conninfo(urls.app, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
        yield pooler, DatabaseUrls(owner=urls.owner, app=app)
    finally:
        listening.close()
        pooler.cut_clients()
        for server in pooler.servers:
            server.writer.close()
        await listening.wait_closed()
