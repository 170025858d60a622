"""Passages: hits that are neighbours in their document as one text, in reading order, with what surrounds them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True)
class Chunk:
    """A stored chunk with its document's title and location. `ordinal` is its place in the document."""

    id: UUID
    document_id: UUID
    source_id: UUID
    title: str | None
    location: str
    ordinal: int
    path: Sequence[str]
    anchor: str | None
    content: str


@dataclass(frozen=True)
class Passage:
    """One or several neighbouring chunks of a document, in reading order.

    `id`, `anchor` and `path` (headings) are those of the best hit in it, `score` is that hit's, comparable within one
    search only. `title` is the document's or its outermost heading, None where it has neither. `text` is the
    document's, so untrusted.
    """

    id: UUID
    document_id: UUID
    source_id: UUID
    title: str | None
    location: str
    anchor: str | None
    path: tuple[str, ...]
    text: str
    score: float

    @property
    def url(self) -> str:
        """Where a reader finds the passage."""
        return f"{self.location}#{self.anchor}" if self.anchor else self.location


@dataclass
class Run:
    """Chunks of one document without a gap; `best` came first."""

    best: Chunk
    score: float
    chunks: dict[int, Chunk] = field(default_factory=dict)

    @property
    def length(self) -> int:
        return sum(len(chunk.content) for chunk in self.chunks.values())

    def touches(self, chunk: Chunk) -> bool:
        near = chunk.ordinal - 1 in self.chunks or chunk.ordinal + 1 in self.chunks
        return near and chunk.document_id == self.best.document_id

    def admits(self, chunk: Chunk, characters: int) -> bool:
        return self.touches(chunk) and self.length + len(chunk.content) <= characters


def build_passages(
    scores: Mapping[UUID, float], chunks: Sequence[Chunk], *, limit: int, of_document: int, characters: int
) -> list[Passage]:
    """The passages of the hits, best first.

    Args:
        scores: the hits, best first.
        chunks: the hits and their direct neighbours.
        limit, of_document: how many passages at most, in all and of one document.
        characters: what a passage may have; a single chunk may have more.
    """
    known = {chunk.id: chunk for chunk in chunks}
    runs: list[Run] = []
    for chunk, score in [(known[key], score) for key, score in scores.items() if key in known]:
        touching = [run for run in runs if run.admits(chunk, characters)]
        if touching:
            touching[0].chunks[chunk.ordinal] = chunk
            join_runs(touching, runs, characters)
        elif len(runs) < limit and count_of(runs, chunk.document_id) < of_document:
            runs.append(Run(chunk, score, {chunk.ordinal: chunk}))
    for run in runs:
        surround(run, runs, chunks, characters)
    return [describe(run) for run in runs]


def join_runs(touching: Sequence[Run], runs: list[Run], characters: int) -> None:
    """Make one run of the two that a chunk between them has brought together; the better one stays."""
    first = touching[0]
    for other in touching[1:]:
        if first.length + other.length <= characters:
            first.chunks |= other.chunks
            runs.remove(other)


def count_of(runs: Sequence[Run], document_id: UUID) -> int:
    return sum(run.best.document_id == document_id for run in runs)


def surround(run: Run, runs: Sequence[Run], chunks: Sequence[Chunk], characters: int) -> None:
    """Add the neighbours of the hits, the following one first: it goes on with what was said."""
    taken = {chunk.id for other in runs for chunk in other.chunks.values()}
    first, last = min(run.chunks), max(run.chunks)
    for ordinal in (last + 1, first - 1):
        for chunk in chunks:
            if chunk.ordinal == ordinal and chunk.id not in taken and run.admits(chunk, characters):
                run.chunks[ordinal] = chunk


def describe(run: Run) -> Passage:
    best = run.best
    return Passage(
        id=best.id,
        document_id=best.document_id,
        source_id=best.source_id,
        title=best.title or (best.path[0] if best.path else None),
        location=best.location,
        anchor=best.anchor,
        path=tuple(best.path),
        text=join_texts([run.chunks[ordinal] for ordinal in sorted(run.chunks)], best.path),
        score=run.score,
    )


def join_texts(chunks: Sequence[Chunk], path: Sequence[str]) -> str:
    """The texts in order; where another section than `path` begins, its heading stands above it."""
    parts: list[str] = []
    for chunk in chunks:
        if list(chunk.path) != list(path) and chunk.path:
            parts.append(chunk.path[-1])
        path = chunk.path
        parts.append(chunk.content)
    return "\n\n".join(parts)
