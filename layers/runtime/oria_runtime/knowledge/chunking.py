"""Cutting a document into the parts that are indexed, and naming them so that they keep their names."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from oria_runtime.knowledge.content.content import Content


@dataclass(frozen=True)
class Draft:
    """A chunk before it is stored: the heading path and anchor of its section, and its text."""

    path: tuple[str, ...]
    anchor: str | None
    text: str


def split(content: Content) -> list[Draft]:
    """The chunks of a document in its order, none empty. Raises ExtractionError(`too_complex`) for too many."""
    raise NotImplementedError


def identify(document_id: UUID, drafts: Sequence[Draft]) -> list[UUID]:
    """One id for each draft: it depends on the document, path, text and how often the same came before, not on the
    position, so that what is inserted elsewhere changes no other's id."""
    raise NotImplementedError


def embedded_text(title: str | None, draft: Draft) -> str:
    """What is embedded for a chunk."""
    raise NotImplementedError
