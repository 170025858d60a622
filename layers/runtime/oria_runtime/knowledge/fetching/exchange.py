"""One request and its answer, each phase with its own time."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpcore2

from oria_runtime.knowledge.errors import FetchError, FetchReason
from oria_runtime.knowledge.fetching.conditional import Headers
from oria_runtime.knowledge.fetching.encoding import Decoder, choose_decoder
from oria_runtime.knowledge.fetching.failures import explain_body, explain_header
from oria_runtime.knowledge.fetching.policy import FetchPolicy


@dataclass(frozen=True)
class Answer:
    """The header of an answer, and the body that is still to come. Header names are lower case; of a repeated one only
    Content-Encoding's values add up, otherwise the first counts."""

    status: int
    headers: dict[str, str]
    response: httpcore2.Response


@dataclass(frozen=True)
class Room:
    """How much of a body is taken: bytes as they come and as they become. `cut` drops the rest instead of failing."""

    bytes: int
    expanded: int
    cut: bool = False


@asynccontextmanager
async def exchange(
    pool: httpcore2.AsyncConnectionPool, location: str, headers: Headers, policy: FetchPolicy
) -> AsyncIterator[Answer]:
    """The answer of a location to a GET. Raises FetchError."""
    with explain_header():
        async with asyncio.timeout(policy.first_byte_seconds):
            response = await send(pool, build_request(location, headers, policy))
    try:
        yield Answer(response.status, read_headers(response), response)
    finally:
        await response.aclose()


def build_request(location: str, headers: Headers, policy: FetchPolicy) -> httpcore2.Request:
    """A GET for a normalized location. Host and target are taken from it here, where the same reading was checked."""
    parts = urlsplit(location)
    host, target = (parts.hostname or "").encode("ascii"), f"{parts.path}?{parts.query}" if parts.query else parts.path
    return httpcore2.Request(
        "GET",
        httpcore2.URL(scheme=parts.scheme.encode("ascii"), host=host, port=parts.port, target=target.encode("ascii")),
        headers=[(b"Host", parts.netloc.encode("ascii")), *headers],
        extensions={"timeout": {"connect": policy.connect_seconds}},
    )


async def send(pool: httpcore2.AsyncConnectionPool, request: httpcore2.Request) -> httpcore2.Response:
    """The answer's header. A kept connection that the server closed meanwhile is no failure of the server: the request
    is sent again, until a connection made for it has failed."""
    fresh = False

    async def note(event: str, _: object) -> None:
        nonlocal fresh
        fresh = fresh or event == "connection.connect_tcp.started"

    request.extensions["trace"] = note
    while True:
        try:
            return await pool.handle_async_request(request)
        except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError):
            if fresh:
                raise


def read_headers(response: httpcore2.Response) -> dict[str, str]:
    """Headers as text. Latin-1 gives every byte back as it came."""
    headers: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if key == "content-encoding" and key in headers:
            text = f"{headers[key]}, {text}"
        elif key in headers:
            continue
        headers[key] = text
    return headers


async def read_body(answer: Answer, room: Room, idle_seconds: float) -> tuple[bytes, str]:
    """The body with its coding undone, and its SHA-256 in hexadecimal.

    Raises:
        FetchError: `too_large` before anything is read where the header says so, else when it gets so far;
            `too_large_expanded`, `truncated`, `broken_encoding`, `timeout`.
    """
    declared = answer.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > room.bytes and not room.cut:
        raise FetchError("too_large", f"The answer is larger than {room.bytes} bytes.")
    body = Body(choose_decoder(answer.headers.get("content-encoding", "")), room)
    loop = asyncio.get_running_loop()
    with explain_body():
        async with asyncio.timeout(idle_seconds) as pause, aclosing(answer.response.aiter_stream()) as chunks:
            async for chunk in chunks:
                await body.take(chunk)
                if body.is_cut:
                    break
                pause.reschedule(loop.time() + idle_seconds)
    return body.finish()


class Body:
    """What has arrived of a body."""

    def __init__(self, decoder: Decoder, room: Room) -> None:
        self._decoder = decoder
        self._room = room
        self._taken = 0
        self._data = bytearray()
        self._digest = hashlib.sha256()
        self.is_cut = False

    async def take(self, chunk: bytes) -> None:
        """Adds what arrived. Raises FetchError: `too_large`, `too_large_expanded`, `broken_encoding`."""
        self._taken += len(chunk)
        if self._taken > self._room.bytes:
            self._overflow("too_large")
            return
        for piece in self._decoder.feed(chunk):
            if len(self._data) + len(piece) > self._room.expanded:
                self._overflow("too_large_expanded")
                return
            self._data += piece
            self._digest.update(piece)
            # The loop gets its turn between two pieces: a bomb must not stop what else this process does.
            await asyncio.sleep(0)

    def finish(self) -> tuple[bytes, str]:
        """Body and hash. Raises FetchError `truncated` when the coding has no end; an empty body needs none."""
        if self._taken and not self.is_cut:
            self._decoder.finish()
        return bytes(self._data), self._digest.hexdigest()

    def _overflow(self, reason: FetchReason) -> None:
        if not self._room.cut:
            raise FetchError(reason, "The answer is larger than what is read.")
        self.is_cut = True
