"""Finding passages: full text and vectors in the database, fused by reciprocal ranks, neighbours merged.

Signatures first; the implementation follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from oria_runtime.db.pool import TenantDatabase

if TYPE_CHECKING:
    from oria_runtime.knowledge.indexes import Index
    from oria_runtime.models.client import Models

PASSAGES = 5


@dataclass(frozen=True)
class Passage:
    """One or several neighbouring chunks of a document, in reading order. `id`, `anchor` and `path` are the best hit's."""

    id: UUID
    document_id: UUID
    source_id: UUID
    title: str
    location: str
    anchor: str | None
    path: tuple[str, ...]
    text: str
    score: float

    @property
    def url(self) -> str:
        """Where a reader finds the passage."""
        return f"{self.location}#{self.anchor}" if self.anchor else self.location


@dataclass(frozen=True)
class Found:
    """`by_text` and `by_vector` count the chunks of each list that are evidence; `by_vector` None: no such list."""

    passages: Sequence[Passage]
    by_text: int
    by_vector: int | None


@dataclass(frozen=True)
class Retrieval:
    """The passages for a question. `by_vector` False: there are vectors, but the question could not be embedded, so
    that nothing found is no miss."""

    passages: Sequence[Passage]
    by_vector: bool


async def search_passages(
    database: TenantDatabase,
    *,
    words: str,
    vector: Sequence[float] | None,
    index: "Index | None",
    limit: int = PASSAGES,
) -> Found:
    """The passages for these words, best first."""
    raise NotImplementedError


async def retrieve(database: TenantDatabase, models: "Models", query: str, *, limit: int = PASSAGES) -> Retrieval:
    """The passages for a question in words, embedded with the active index's own model."""
    raise NotImplementedError
