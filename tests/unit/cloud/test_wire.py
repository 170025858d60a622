"""The small HTTP server of the Runtime API and the bus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from local.cloud.wire import WireRequest, WireResponse, WireServer


@asynccontextmanager
async def connect() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server that answers what it got."""

    async def echo(request: WireRequest) -> WireResponse:
        return WireResponse(200, f"{request.method} {request.path} ".encode() + request.body)

    server = WireServer(echo)
    await server.start()
    host, port = server.address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    yield reader, writer
    writer.close()
    await server.close()


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    return await reader.readexactly(size)


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with connect() as (reader, writer):
        for body in (b"one", b"two"):
            writer.write(b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\n" + body)
            assert await read_answer(reader) == b"POST /x " + body


async def test_chunked_bodies_are_joined_and_trailers_passed_over() -> None:
    async with connect() as (reader, writer):
        writer.write(
            b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: t\r\n\r\n"
        )
        assert await read_answer(reader) == b"POST /x abc"


async def test_a_client_that_asks_may_go_on() -> None:
    async with connect() as (reader, writer):
        writer.write(b"POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        writer.write(b"a")
        assert await read_answer(reader) == b"POST /x a"
