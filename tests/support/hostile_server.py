"""A web server that does what servers must not do, each misdeed at a path of its own, over real sockets.

`run_hostile_server()` gives one on a free port of loopback; ROUTES says what there is. It runs on a thread of its own,
so that a test's loop and the server's cannot slow each other down by anything but the machine.
"""

import asyncio
import gzip
import ssl
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import parse_qsl, urlsplit

from tests.support.documents import make_docx, make_pdf

# A drop of a slow answer comes every DRIP seconds: more often than any pause that a fetch allows.
DRIP = 0.02
PDF_BYTES = 300_000_000
BOMB_BYTES = 1_000_000_000
LINKS = 10_000
ETAG = '"v1-étiquette"'.encode("latin-1")
LAST_MODIFIED = b"Sat, 29 Nov 2025 08:09:10 GMT"
FRENCH = "Les congés payés : après l’été, un employé à l’étranger reçoit sa prime de dépaysement."


@dataclass(frozen=True)
class Seen:
    """A request as it came. Header names are lower case; values are bytes."""

    target: str
    headers: dict[str, bytes]

    @property
    def path(self) -> str:
        """The target without its query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the target."""
        return dict(parse_qsl(urlsplit(self.target).query))


Write = asyncio.StreamWriter
Route = Callable[[Seen, Write], Awaitable[None]]


@dataclass
class HostileServer:
    """`requests` are all that came, on so many `connections`; `routes` answer them: ROUTES until a test changes it."""

    url: str
    port: int
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    routes: "dict[str, Route]" = field(default_factory=lambda: dict(ROUTES))

    def location(self, path: str) -> str:
        """The location of a path."""
        return self.url + path

    def put(self, path: str, content: bytes) -> None:
        """Answers a path with these bytes, header and all."""
        self.routes[path] = always(content)

    def seen(self, path: str) -> list[Seen]:
        """The requests for one path."""
        return [request for request in self.requests if request.path == path]


def head(status: str, *headers: tuple[str, str | bytes], length: int | None = None) -> bytes:
    """Status line and header of an answer."""
    lines = [f"HTTP/1.1 {status}".encode()]
    for name, value in headers:
        lines.append(name.encode() + b": " + (value if isinstance(value, bytes) else value.encode("latin-1")))
    if length is not None:
        lines.append(f"Content-Length: {length}".encode())
    return b"\r\n".join(lines) + b"\r\n\r\n"


def answer(body: bytes, *headers: tuple[str, str | bytes], status: str = "200 OK", kind: str = "text/html") -> bytes:
    """A well-formed answer."""
    return head(status, ("Content-Type", kind), *headers, length=len(body)) + body


def page(title: str, text: str, links: str = "") -> bytes:
    """A page with a heading, in UTF-8."""
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>{links}</body></html>".encode()


def always(content: bytes) -> Route:
    """The route that answers with these bytes."""

    async def write(_: Seen, writer: Write) -> None:
        writer.write(content)
        await writer.drain()

    return write


def once(make: Callable[[], bytes]) -> Route:
    """The route that answers with bytes that are made when they are first asked for."""

    async def write(seen: Seen, writer: Write) -> None:
        await always(make())(seen, writer)

    return write


def redirect(target: str, status: str = "302 Found") -> bytes:
    """An answer that redirects."""
    return head(status, ("Location", target.encode()), length=0)


async def redirect_to(seen: Seen, writer: Write) -> None:
    """/redirect?to=… leads there; &status= another status."""
    await always(redirect(seen.query.get("to", ""), seen.query.get("status", "302 Found")))(seen, writer)


async def redirect_down(seen: Seen, writer: Write) -> None:
    """/redirects/chain?left=n leads through n more of its kind to /good."""
    left = int(seen.query.get("left", "0"))
    await always(redirect(f"/redirects/chain?left={left - 1}" if left else "/good"))(seen, writer)


async def be_silent(_: Seen, writer: Write) -> None:
    """Takes the request and never says anything."""
    await writer.wait_closed()


async def drip(writer: Write, start: bytes, drop: bytes) -> None:
    """Sends `start`, then one drop after the other for as long as the other side listens."""
    writer.write(start)
    while not writer.is_closing():
        writer.write(drop)
        await writer.drain()
        await asyncio.sleep(DRIP)


async def drip_header(_: Seen, writer: Write) -> None:
    """Slow loris: a header that never ends, by the byte."""
    await drip(writer, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a")


async def drip_body(_: Seen, writer: Write) -> None:
    """Slow loris: a body that comes by the byte."""
    await drip(writer, head("200 OK", ("Content-Type", "text/html"), length=1_000_000), b"a")


async def stop_in_body(_: Seen, writer: Write) -> None:
    """Half a body, and then nothing while the connection stays."""
    writer.write(head("200 OK", ("Content-Type", "text/html"), length=1_000) + b"<p>half")
    await writer.wait_closed()


async def flood(writer: Write, start: bytes, piece: bytes, pieces: int | None = None) -> None:
    """Sends `start` and then pieces as fast as they are taken, endlessly where no number is given."""
    writer.write(start)
    while not writer.is_closing() and pieces != 0:
        writer.write(piece)
        await writer.drain()
        pieces = None if pieces is None else pieces - 1


def chunk(data: bytes) -> bytes:
    """A chunk of the chunked coding."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


CHUNKED = ("Transfer-Encoding", "chunked")
MEGABYTE = bytes(1_000_000)


async def never_end(_: Seen, writer: Write) -> None:
    """A page without an end."""
    await flood(writer, head("200 OK", ("Content-Type", "text/html"), CHUNKED), chunk(b"<p>more</p>" * 5_000))


async def never_end_header(_: Seen, writer: Write) -> None:
    """A header without an end."""
    await flood(writer, b"HTTP/1.1 200 OK\r\n", b"X-More: more\r\n" * 100)


async def never_begin(_: Seen, writer: Write) -> None:
    """Interim answers without an end."""
    await flood(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)


async def chop(_: Seen, writer: Write) -> None:
    """A page in chunks of one byte, which cost the reader far more than the writer."""
    await flood(writer, head("200 OK", ("Content-Type", "text/html"), CHUNKED), chunk(b"a") * 10_000)


async def send_large_declared(_: Seen, writer: Write) -> None:
    """A PDF of 300 MB that says so."""
    start = head("200 OK", ("Content-Type", "application/pdf"), length=PDF_BYTES) + b"%PDF-1.7\n"
    await flood(writer, start, MEGABYTE, PDF_BYTES // len(MEGABYTE))


async def send_large_undeclared(_: Seen, writer: Write) -> None:
    """A PDF of 300 MB that does not say so."""
    start = head("200 OK", ("Content-Type", "application/pdf"), CHUNKED) + chunk(b"%PDF-1.7\n")
    await flood(writer, start, chunk(MEGABYTE), PDF_BYTES // len(MEGABYTE))


@cache
def make_bomb(coding: str) -> bytes:
    """A megabyte that becomes a gigabyte. A block that ends in a full flush stands alone, so it can be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    start = gzip.compress(b"")[:10] if coding == "gzip" else b"\x78\xda"
    return answer(start + block * (BOMB_BYTES // len(MEGABYTE)), ("Content-Encoding", coding))


def make_links() -> bytes:
    """A page with 10,000 links."""
    links = "".join(f'<a href="/links/{number}">Link {number}</a> ' for number in range(LINKS))
    return answer(page("Directory", "Everything.", links))


async def answer_with_status(seen: Seen, writer: Write) -> None:
    """/status?code=n answers with it; &after= with a Retry-After."""
    after = [("Retry-After", seen.query["after"])] if "after" in seen.query else []
    await always(answer(b"no", *after, status=f"{seen.query.get('code', '500')} Status"))(seen, writer)


async def answer_if_changed(seen: Seen, writer: Write) -> None:
    """A server that knows conditional requests."""
    validators = (("ETag", ETAG), ("Last-Modified", LAST_MODIFIED))
    if seen.headers.get("if-none-match") == ETAG:
        await always(head("304 Not Modified", *validators))(seen, writer)
    else:
        await always(answer(page("Policy", "Unchanged."), *validators))(seen, writer)


def gzipped(text: bytes) -> bytes:
    """A page that is compressed as it should be."""
    return answer(gzip.compress(text), ("Content-Encoding", "gzip"))


def declare(text: str, encoding: str, declared: str | None, meta: str | None = None) -> bytes:
    """A page written in one charset and declared as others."""
    said = f'<meta charset="{meta}">' if meta else ""
    body = f"<html><head>{said}<title>Charset</title></head><body><h1>Charset</h1><p>{text}</p></body></html>"
    return answer(body.encode(encoding), kind="text/html" + (f"; charset={declared}" if declared else ""))


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SENTENCE = "Travel is booked through the portal."

ROUTES: dict[str, Route] = {
    "/good": always(answer(page("Travel", SENTENCE))),
    "/gzip": always(gzipped(page("Travel", SENTENCE))),
    "/redirect": redirect_to,
    "/redirects/chain": redirect_down,
    "/redirects/self": always(redirect("/redirects/self")),
    "/redirects/one": always(redirect("/redirects/two")),
    "/redirects/two": always(redirect("/redirects/one#again")),
    "/slow/silent": be_silent,
    "/slow/header": drip_header,
    "/slow/body": drip_body,
    "/slow/stopped": stop_in_body,
    "/endless/body": never_end,
    "/endless/header": never_end_header,
    "/endless/interim": never_begin,
    "/endless/chunks": chop,
    "/large/declared": send_large_declared,
    "/large/undeclared": send_large_undeclared,
    "/bomb/gzip": once(lambda: make_bomb("gzip")),
    "/bomb/deflate": once(lambda: make_bomb("deflate")),
    "/encoding/nested": always(answer(gzip.compress(gzip.compress(b"<p>")), ("Content-Encoding", "gzip, gzip"))),
    "/encoding/repeated": always(
        answer(gzip.compress(gzip.compress(b"<p>")), ("Content-Encoding", "gzip"), ("Content-Encoding", "gzip"))
    ),
    "/encoding/unasked": always(answer(b"\x0b\x02\x80<p>\x03", ("Content-Encoding", "br"))),
    "/encoding/broken": always(answer(gzip.compress(b"<p>")[:10] + b"\xff" * 40, ("Content-Encoding", "gzip"))),
    "/encoding/cut": always(answer(gzip.compress(page("Cut", SENTENCE))[:-20], ("Content-Encoding", "gzip"))),
    "/length/long": always(head("200 OK", ("Content-Type", "text/html"), ("Connection", "close"), length=900) + b"<p>"),
    "/length/short": always(head("200 OK", ("Content-Type", "text/html"), length=3) + b"<p>and more"),
    "/length/chunk": always(
        head("200 OK", ("Content-Type", "text/html"), CHUNKED, ("Connection", "close")) + b"ffff\r\n<p>"
    ),
    "/garbage": always(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "/links": once(make_links),
    "/charset/undeclared": always(declare(FRENCH, "cp1252", None)),
    "/charset/wrong": always(declare(FRENCH, "cp1252", "utf-8")),
    "/charset/meta": always(declare(FRENCH, "cp1252", None, "windows-1252")),
    "/charset/conflict": always(declare(FRENCH, "cp1252", "windows-1252", "utf-8")),
    "/charset/default": always(declare(FRENCH, "utf-8", "iso-8859-1")),
    "/status": answer_with_status,
    "/etag/honest": answer_if_changed,
    "/etag/ignored": always(answer(page("Policy", "Unchanged."), ("ETag", b"W/" + ETAG))),
    "/drop": always(answer(page("Dropped", SENTENCE))),
    "/cookie": always(answer(page("Cookie", SENTENCE), ("Set-Cookie", "id=1; Path=/"))),
    "/image": always(answer(b"\x89PNG\r\n", kind="image/png")),
    "/pdf/scanned": once(lambda: answer(make_pdf([None]), kind="application/pdf")),
    "/pdf/password": once(lambda: answer(make_pdf([SENTENCE], password="secret"), kind="application/pdf")),
    "/docx/broken": once(lambda: answer(make_docx([SENTENCE])[:-200], kind=DOCX)),
}

# Answers that are over when the connection is, and one after which the next request on the connection gets no answer.
CLOSING = frozenset({"/length/long", "/length/chunk", "/garbage"})
NOT_FOUND = answer(b"not here", status="404 Not Found")


@contextmanager
def run_hostile_server(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[HostileServer]:
    """The server, until the block ends."""
    ready: list[HostileServer] = []
    started, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve(host, tls, ready, started, stop)), daemon=True)
    thread.start()
    started.wait(5)
    try:
        yield ready[0]
    finally:
        stop.set()
        thread.join(5)


async def serve(
    host: str,
    tls: ssl.SSLContext | None,
    ready: list[HostileServer],
    started: threading.Event,
    stop: threading.Event,
) -> None:
    """Serves until `stop`; what a connection still does then is cancelled."""
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: Write) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError):
            try:
                await converse(ready[0], reader, writer)
            finally:
                tasks.discard(task)
                writer.close()

    server = await asyncio.start_server(accept, host, 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    ready.append(HostileServer(f"{'https' if tls else 'http'}://{name}:{port}", port))
    started.set()
    while not stop.is_set():
        await asyncio.sleep(0.01)
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def converse(server: HostileServer, reader: asyncio.StreamReader, writer: Write) -> None:
    """Answers the requests of one connection."""
    server.connections += 1
    dropping = False
    while True:
        block = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        headers = {}
        for line in block[1:-2]:
            name, _, value = line.partition(b":")
            headers[name.decode("latin-1").lower()] = value.strip()
        seen = Seen(block[0].split(b" ")[1].decode("latin-1"), headers)
        server.requests.append(seen)
        if dropping:
            return
        await server.routes.get(seen.path, always(NOT_FOUND))(seen, writer)
        await writer.drain()
        if seen.path in CLOSING:
            return
        dropping = seen.path == "/drop"
