"""A web site whose pages a test changes, over real HTTP: validators, redirects, errors; every request is recorded."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from local.offline_model.wire.server import DroppedConnectionError, HttpReply, HttpRequest, serve

ROBOTS = "/robots.txt"


@dataclass(frozen=True)
class Page:
    """What a path answers. `etag` "auto" follows from the body; None sends none. `conditional` False: the server sends
    its ETag and answers 200 to it all the same."""

    body: bytes
    media_type: str = "text/html; charset=utf-8"
    etag: str | None = "auto"
    last_modified: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    conditional: bool = True
    dropped: bool = False

    @property
    def tag(self) -> str | None:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"' if self.etag == "auto" else self.etag


MISSING = Page(b"", status=404, etag=None)


@dataclass
class Gate:
    """Stops the request of one number, among all that pass it, until it is opened."""

    number: int = 0
    passed: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def pass_through(self) -> None:
        self.passed += 1
        if self.passed == self.number:
            self.reached.set()
            await self.opened.wait()


@dataclass
class Site:
    """The pages by path, the requests that came, less those for robots.txt, and what answers a path's next one only."""

    url: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    requests: list[HttpRequest] = field(default_factory=list)
    next: dict[str, Page] = field(default_factory=dict)
    watched: dict[int, asyncio.Event] = field(default_factory=dict)
    delay: float = 0.0
    gate: Gate = field(default_factory=Gate)
    held: dict[str, tuple[asyncio.Event, asyncio.Event]] = field(default_factory=dict)

    def put(self, path: str, body: str | bytes, **attributes: object) -> None:
        """Set a page; text is its HTML body."""
        content = body if isinstance(body, bytes) else render(body)
        self.pages[path] = replace(Page(content), **attributes)  # type: ignore[arg-type]

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        self.pages[path] = Page(b"", status=status, etag=None, headers={"location": target})

    def fail(self, path: str, status: int = 503, **headers: str) -> None:
        self.pages[path] = Page(
            b"", status=status, etag=None, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )

    def drop(self, path: str) -> None:
        """Break the connection off."""
        self.pages[path] = replace(self.pages[path], dropped=True)

    def watch(self, number: int, reached: asyncio.Event) -> None:
        """Set the event when that many more requests have come."""
        self.watched[len(self.requests) + number] = reached

    def hold(self, path: str, arrived: asyncio.Event, answer: asyncio.Event) -> None:
        """Say when the next request for a path has come, and answer it when told."""
        self.held[path] = arrived, answer

    def asked(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(request.path for request in self.requests)

    def location(self, path: str) -> str:
        return self.url + path

    async def handle(self, request: HttpRequest) -> HttpReply:
        """Record a request and answer it."""
        if request.path != ROBOTS:
            await self._record(request)
        page = self.next.pop(request.path, None) or self.pages.get(request.path, MISSING)
        if page.dropped:
            raise DroppedConnectionError
        headers = dict(page.headers) | {
            name: value for name, value in (("etag", page.tag), ("last-modified", page.last_modified)) if value
        }
        if page.conditional and page.status == 200 and is_current(request, page):
            return HttpReply(304, b"", page.media_type, headers)
        return HttpReply(page.status, page.body, page.media_type, headers)

    async def _record(self, request: HttpRequest) -> None:
        self.requests.append(request)
        if len(self.requests) in self.watched:
            self.watched.pop(len(self.requests)).set()
        if request.path in self.held:
            arrived, answer = self.held.pop(request.path)
            arrived.set()
            await answer.wait()
        await self.gate.pass_through()
        await asyncio.sleep(self.delay)


def is_current(request: HttpRequest, page: Page) -> bool:
    """Whether the validators of a request, compared weakly, name the page."""
    asked = request.headers.get("if-none-match")
    if asked is not None:
        return page.tag is not None and asked.removeprefix("W/") == page.tag.removeprefix("W/")
    since = request.headers.get("if-modified-since")
    return since is not None and since == page.last_modified


def render(body: str, *, title: str = "Handbook", head: str = "") -> bytes:
    """A page with that body."""
    head = f"<head><title>{title}</title>{head}</head>"
    return f"<!doctype html><html lang=en>{head}<body><main>{body}</main></body></html>".encode()


def write_page(title: str, *paragraphs: str, links: Mapping[str, str] | None = None, head: str = "") -> bytes:
    """A page with a heading of its own, paragraphs and links by their texts."""
    anchors = "".join(f'<p><a href="{target}">{text}</a></p>' for text, target in (links or {}).items())
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return render(f"<h1>{title}</h1>{text}{anchors}", title=title, head=head)


@asynccontextmanager
async def serve_site() -> AsyncIterator[Site]:
    """An empty site in the running event loop."""
    site = Site()
    async with serve(site.handle) as url:
        site.url = url
        yield site
