"""One research: what it may still do, what it has read, and whether something that it wanted to read was not there."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolMessage

from graph.middleware.tool_boundary import ToolResult, log_failure, run_bounded
from graph.oria.tools.knowledge.evidence import Evidence, Ledger, shorten_label
from graph.oria.tools.knowledge.pages import Page, Pages
from graph.policy import (
    KNOWLEDGE_ENTRY_CHARACTERS,
    KNOWLEDGE_ENTRY_PAGES,
    KNOWLEDGE_EXCERPT_CHARACTERS,
    KNOWLEDGE_LINK_CHARACTERS,
    KNOWLEDGE_PASSAGES,
    KNOWLEDGE_QUERY_CHARACTERS,
    KNOWLEDGE_READS,
    KNOWLEDGE_SEARCHES,
    KNOWLEDGE_SECTIONS,
)
from oria_runtime.db.text import clean_text
from oria_runtime.knowledge.content.content import Section
from oria_runtime.knowledge.search import Passage, retrieve
from oria_runtime.knowledge.sources import list_pages_sources
from oria_runtime.turns.context import TurnContext


class NotReadableError(Exception):
    """A page or section that cannot be read; `reason` tells the model why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Research:
    """The state of one research, which no thread keeps.

    `question` is what a search without a query looks for. `is_incomplete` says that some part of it could not be read,
    so that finding nothing is not knowing that there is nothing.
    """

    context: TurnContext
    pages: Pages
    question: str
    evidence: Ledger = field(default_factory=Ledger)
    searches: int = 0
    reads: int = 0
    is_incomplete: bool = False
    entries: Sequence[Page] = ()

    @property
    def web_budget(self) -> dict[str, int]:
        """What is left: pages that can still be fetched, and excerpts that can still be read."""
        return {"pages_left": self.pages.requests_left, "reads_left": KNOWLEDGE_READS - self.reads}

    async def search(self, query: str | None) -> dict[str, Any]:
        """Passages for the query; the first search opens the entry pages meanwhile. The caller checks `searches`."""
        self.searches += 1
        words = clean_text(query or "").strip() or self.question
        is_first = self.searches == 1
        async with asyncio.TaskGroup() as group:
            retrieving = group.create_task(self._retrieve(words[:KNOWLEDGE_QUERY_CHARACTERS]))
            opening = group.create_task(self._open_entries()) if is_first else None
        if opening is not None:
            self.entries = opening.result()
        passages = retrieving.result()
        return {
            "passages": "unavailable" if passages is None else [found.as_json() for found in passages],
            "pages": [self._describe(page, is_first) for page in self.entries],
            "searches_left": KNOWLEDGE_SEARCHES - self.searches,
            "web_budget": self.web_budget,
        }

    async def _retrieve(self, words: str) -> list[Evidence] | None:
        """The passages as evidence, or None when the index could not be asked."""
        try:
            found = await retrieve(self.context.database, self.context.models, words, limit=KNOWLEDGE_PASSAGES)
        except Exception as error:  # noqa: BLE001 - pages may answer what an index that fails does not
            log_failure(error, "retrieve", None)
            self.is_incomplete = True
            return None
        # Without the question's vector only equal words are found.
        self.is_incomplete = self.is_incomplete or not found.by_vector
        return [self._add_passage(passage) for passage in found.passages]

    def _add_passage(self, passage: Passage) -> Evidence:
        return self.evidence.add(
            # Another search may read on from the same hit.
            (passage.id, passage.text),
            title=passage.title,
            heading=passage.path,
            location=passage.location,
            anchor=passage.anchor,
            text=passage.text,
        )

    async def _open_entries(self) -> list[Page]:
        """The entry pages of the active web sources, the first of them read; the others can be read by their ids."""
        try:
            async with self.context.database.transaction() as connection:
                sources = await list_pages_sources(connection)
        except Exception as error:  # noqa: BLE001 - the index may answer what no page can be read for
            log_failure(error, "list sources", None)
            self.is_incomplete = True
            return []
        entries = [self.pages.add_entry(source) for source in sources]
        async with asyncio.TaskGroup() as group:
            for page in entries[:KNOWLEDGE_ENTRY_PAGES]:
                group.create_task(self._open(page))
        return entries

    async def _open(self, page: Page) -> None:
        await self.pages.read(page)
        self.is_incomplete = self.is_incomplete or page.state == "unavailable"

    async def read(self, page: Page, section_id: str | None, offset: int) -> dict[str, Any]:
        """An excerpt of a page, fetched unless it was. Raises NotReadableError. The caller checks `reads`."""
        self.reads += 1
        await self._open(page)
        if page.state != "read":
            raise NotReadableError("no_page_budget" if page.state == "unread" else page.state)
        section = find_section(page, section_id) if section_id else None
        return {
            "status": "read",
            "page_id": page.id,
            **self._excerpt(page, section, section_id or "", offset, KNOWLEDGE_EXCERPT_CHARACTERS),
            **self._describe_inside(page),
            "web_budget": self.web_budget,
        }

    def _excerpt(
        self, page: Page, section: Section | None, section_id: str, offset: int, characters: int
    ) -> dict[str, Any]:
        """A piece of a section, of the whole page without one, and where the rest begins; None where nothing is."""
        text = section.text if section else write_page(page)
        piece = text[offset : offset + characters]
        if not piece.strip():
            return {"excerpt": None, "next_offset": None}
        found = self.evidence.add(
            (page.id, section_id, offset, characters),
            title=page.content.title if page.content else None,
            heading=section.path if section else (),
            location=page.location,
            anchor=section.anchor if section else None,
            text=piece,
        )
        end = offset + characters
        return {"excerpt": found.as_json(), "next_offset": end if end < len(text) else None}

    def _describe(self, page: Page, is_first: bool) -> dict[str, Any]:
        """An entry page with what leads on from it; after the first search, only that it is there."""
        described: dict[str, Any] = {"page_id": page.id, "title": name_page(page), "status": page.state}
        if page.state != "read" or not is_first:
            return described
        excerpt = self._excerpt(page, None, "", 0, KNOWLEDGE_ENTRY_CHARACTERS)
        return described | excerpt | self._describe_inside(page)

    def _describe_inside(self, page: Page) -> dict[str, Any]:
        """Handles of a page's sections and links: they say where to read on and prove nothing."""
        sections = [
            {"section_id": f"s{number}", "heading": shorten_label(" › ".join(section.path))}
            for number, section in enumerate(page.sections[:KNOWLEDGE_SECTIONS], start=1)
        ]
        links = [
            {
                "page_id": target.id,
                "text": shorten_label(target.label),
                "path": shorten_label(target.location.partition("://")[2].partition("/")[2]),
                "context": " ".join(clean_text(target.context).split())[:KNOWLEDGE_LINK_CHARACTERS],
            }
            for target in self.pages.list_links(page)
        ]
        return {"sections": sections, "links": links}

    async def run_bounded(self, work: Awaitable[ToolResult], *, name: str, call_id: str, failure: str) -> ToolResult:
        """The boundary of the tools: what fails without a word of its own has left something unread."""
        result = await run_bounded(work, name=name, call_id=call_id, failure=failure)
        if isinstance(result, ToolMessage) and result.text == failure:
            self.is_incomplete = True
        return result


def name_page(page: Page) -> str:
    """The title of a page that was read, what led to it otherwise."""
    return shorten_label((page.content and page.content.title) or page.label)


def write_page(page: Page) -> str:
    """The text of a page with its headings."""
    parts = [(section.path[-1] if section.path else "", section.text) for section in page.sections]
    return "\n\n".join(f"{heading}\n{text}" if heading else text for heading, text in parts)


def find_section(page: Page, section_id: str) -> Section:
    """The section under a handle. Raises NotReadableError."""
    shown = {f"s{number}": section for number, section in enumerate(page.sections[:KNOWLEDGE_SECTIONS], start=1)}
    if section_id not in shown:
        raise NotReadableError("unknown_section")
    return shown[section_id]
