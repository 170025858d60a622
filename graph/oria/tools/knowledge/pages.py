"""The public pages that a research may read: by opaque ids, in their source's scope and depth, each fetched once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import TracebackType
from typing import Literal, Self

from graph.middleware.tool_boundary import log_failure
from graph.oria.tools.knowledge.navigation import drop_navigation, read_words
from graph.policy import (
    KNOWLEDGE_EXPANDED_BYTES,
    KNOWLEDGE_LINKS,
    KNOWLEDGE_PAGE_BYTES,
    KNOWLEDGE_PAGE_CHARACTERS,
    KNOWLEDGE_PAGE_SECONDS,
    KNOWLEDGE_PAGES,
)
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.formats import MARKDOWN, TEXT
from oria_runtime.knowledge.content.content import Content, Section
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.reading import HTML_TYPES, read_content
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.client import Fetcher
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.sources import Source

# PDF and DOCX are read by the refresh and found as passages: a person's question does not wait for their conversion.
PAGE_TYPES = (*sorted(HTML_TYPES), MARKDOWN, TEXT)
# Nothing is there to be read: the research has missed nothing. Every other failure leaves it without an answer.
NOTHING_THERE = frozenset({"gone", "outside", "unsupported", "no_text", "empty", "not_text", "type_mismatch"})

PageState = Literal["unread", "read", "missing", "unavailable"]


@dataclass
class Page:
    """A page that was found: a source's entry, or linked from another. `label` and `context` are what led to it."""

    id: str
    location: str
    source: Source
    depth: int
    label: str
    context: str = ""
    state: PageState = "unread"
    content: Content | None = None
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @cached_property
    def sections(self) -> Sequence[Section]:
        """What a read page says, in its order: without the lines that only lead on, which are its links."""
        if self.content is None:
            return []
        links = read_words(self.content.links)
        kept = [replace(section, text=drop_navigation(section.text, links)) for section in self.content.sections]
        return [section for section in kept if section.text]


class Pages:
    """The pages of one research, and the requests that are left. An async context manager: it holds connections."""

    def __init__(self, *, allow_loopback: bool) -> None:
        self._fetcher = Fetcher(
            FetchPolicy(
                allow_loopback=allow_loopback,
                seconds=KNOWLEDGE_PAGE_SECONDS,
                connect_seconds=KNOWLEDGE_PAGE_SECONDS,
                first_byte_seconds=KNOWLEDGE_PAGE_SECONDS,
                idle_seconds=KNOWLEDGE_PAGE_SECONDS,
                bytes=KNOWLEDGE_PAGE_BYTES,
                expanded_bytes=KNOWLEDGE_EXPANDED_BYTES,
            )
        )
        self._limits = ContentLimits(characters=KNOWLEDGE_PAGE_CHARACTERS, expanded=KNOWLEDGE_EXPANDED_BYTES)
        self._by_location: dict[str, Page] = {}
        self._by_id: dict[str, Page] = {}
        self.requests_left = KNOWLEDGE_PAGES

    async def __aenter__(self) -> Self:
        await self._fetcher.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._fetcher.__aexit__(kind, error, trace)

    def find(self, page_id: str) -> Page | None:
        """The page of an id that was shown."""
        return self._by_id.get(page_id)

    def add_entry(self, source: Source) -> Page:
        """The page at which a source begins."""
        return self._add(source.location or "", source, 0, source.name)

    def _add(self, location: str, source: Source, depth: int, label: str, context: str = "") -> Page:
        page = self._by_location.get(location)
        if page is None:
            page = Page(f"page-{len(self._by_id) + 1}", location, source, depth, label, context)
            self._by_location[location] = self._by_id[page.id] = page
        page.depth = min(page.depth, depth)
        return page

    async def read(self, page: Page) -> Page:
        """The page as it is, fetched unless it was before. Without requests left it stays unread."""
        async with page.reading:
            if page.state == "unread" and self.requests_left > 0:
                self.requests_left -= 1
                await self._fetch(page)
        return page

    async def _fetch(self, page: Page) -> None:
        try:
            fetched = await self._fetcher.fetch(page.location, scope=page.source.scope, accept_types=PAGE_TYPES)
            page.content = await read_content(
                fetched.body, fetched.media_type, fetched.charset_declared, fetched.location, self._limits
            )
        except (FetchError, ExtractionError) as error:
            page.state = "missing" if error.reason in NOTHING_THERE else "unavailable"
        except Exception as error:  # noqa: BLE001 - whatever a stranger's page causes is that page's failure alone
            log_failure(error, "read page", page.id)
            page.state = "unavailable"
        else:
            page.state = "read"
            # The end of a redirect is the same page, however a link spells it.
            self._by_location.setdefault(fetched.location, page)
            page.location = fetched.location

    def list_links(self, page: Page) -> list[Page]:
        """The pages that a read one leads to, in its source's scope and depth; links into itself are its sections."""
        links = page.content.links if page.content and page.depth < page.source.max_depth else ()
        found: dict[str, Page] = {}
        for link in links:
            known = self._by_location.get(link.location)
            if known is page or len(found) == KNOWLEDGE_LINKS or not page.source.scope.admits(link.location):
                continue
            target = self._add(link.location, page.source, page.depth + 1, link.text, link.context)
            found.setdefault(target.id, target)
        return list(found.values())
