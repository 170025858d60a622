"""Bytes in, content out, whatever the format."""

import asyncio
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from oria_runtime.documents import formats
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.extraction import run_worker
from oria_runtime.knowledge.content.content import Content, Link, Section
from oria_runtime.knowledge.content.finishing import finish
from oria_runtime.knowledge.content.harmless import is_harmless
from oria_runtime.knowledge.content.html.page import read_page
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.markdown.page import read_markdown
from oria_runtime.knowledge.content.plain import read_plain
from oria_runtime.knowledge.fetching.charset import decode

WORKER: Final = "oria_runtime.knowledge.content.worker"
HTML: Final = "text/html"
HTML_TYPES: Final = frozenset({HTML, "application/xhtml+xml"})
HTML_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})
HTML_BEGINNINGS: Final = (b"<!doctype html", b"<html")


async def read_content(
    body: bytes, media_type: str, charset: str | None, location: str, limits: ContentLimits | None = None
) -> Content:
    """The content of a document.

    `media_type` and `charset` are what was declared, `location` is the base of its links. Raises ExtractionError
    (`oria_runtime.documents.errors`), whose `reason` says why there is none. Two kinds of page are no error though they
    have no sections: one that asks not to be indexed (warning `noindex`) and one with links only (warning `no_text`).
    """
    limits = limits or ContentLimits()
    if not body:
        raise ExtractionError("empty", "The document is empty.")
    if len(body) > limits.bytes:
        raise ExtractionError("too_large", f"The document is larger than {limits.bytes} bytes.")
    kind = find_kind(body, media_type, location)
    if kind in {formats.PDF, formats.DOCX}:
        return await read_apart(body, kind, location, limits)
    return await read_written(decode(body, charset)[0], kind, location, limits)


async def read_written(text: str, kind: str, location: str, limits: ContentLimits) -> Content:
    """The content of a text of some kind."""
    if kind == HTML and not is_harmless(text):
        return await read_apart(text.encode("utf-8", "replace"), kind, location, limits)
    return await asyncio.to_thread(read_here, text, kind, location, limits)


def read_here(text: str, kind: str, location: str, limits: ContentLimits) -> Content:
    """The content of a text, read in this process."""
    if kind == HTML:
        return finish(read_page(text, location, limits), limits)
    if kind == formats.MARKDOWN:
        return finish(read_markdown(text, location, limits), limits)
    return finish(read_plain(text), limits)


async def read_apart(body: bytes, kind: str, location: str, limits: ContentLimits) -> Content:
    """The content of a document, read in a process that is killed when it takes too much."""
    about = {"media_type": kind, "location": location}
    return revive(await run_worker(body, about, limits, module=WORKER))


def revive(reading: Mapping[str, Any]) -> Content:
    """The worker's answer as Content."""
    sections = (Section(tuple(section["path"]), section["anchor"], section["text"]) for section in reading["sections"])
    links = (Link(**link) for link in reading["links"])
    warnings = tuple(reading["warnings"])
    return Content(reading["title"], tuple(sections), tuple(links), reading["canonical"], warnings)


def find_kind(body: bytes, media_type: str, location: str) -> str:
    """What a document is: HTML, or a kind that `formats` knows. Raises ExtractionError as `formats.find_format` does.

    A declared page is one whatever its address ends in; for what is undeclared the address, then the beginning, says.
    """
    declared = media_type.partition(";")[0].strip().lower()
    name = PurePosixPath(unquote(urlsplit(location).path)).name
    suffix = PurePosixPath(name).suffix.lower()
    if declared in HTML_TYPES or (declared in formats.UNDECLARED and suffix in HTML_NAMES):
        return HTML
    if declared in formats.UNDECLARED and body[:200].lstrip().lower().startswith(HTML_BEGINNINGS):
        return HTML
    # An address such as /download.php says nothing about what it gives.
    claims = formats.Claims(name if suffix in formats.BY_EXTENSION else "", media_type)
    return formats.find_format(body, claims)
