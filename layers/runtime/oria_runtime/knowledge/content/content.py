"""What was read out of a document: the same shape for every format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """The text under one heading. `path` are the headings above it, the outermost first and its own last; `anchor` is
    the fragment that leads to it (`page=3` in a PDF). Paragraphs of `text` are separated by an empty line."""

    path: tuple[str, ...]
    anchor: str | None
    text: str


@dataclass(frozen=True)
class Link:
    """A link to another location: absolute and normalized, with its text and the words around it."""

    location: str
    text: str
    context: str


@dataclass(frozen=True)
class Content:
    """A document. `canonical` is the location that the page names as its own. `warnings` are `{code, …}`:
    `noindex` and `nofollow` (the page asks for it, so there are no sections, or no links), `pages_without_text` with
    `pages` (scans), `links_left_out` with `count`."""

    title: str | None
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    canonical: str | None = None
    warnings: tuple[Mapping[str, Any], ...] = ()
