"""A new version of a document: read, cut into chunks, embedded where it is new, and swapped in.

Versions wait for each other, so that a call of the embedding model is worth its time.
"""

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from oria_runtime.knowledge.chunking import Draft, identify, split
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.language import detect_language
from oria_runtime.knowledge.content.reading import read_content
from oria_runtime.knowledge.documents import (
    Chunk,
    Version,
    delete_vectors,
    derive_document_id,
    read_chunk_ids,
    read_embedded,
    swap_document,
)
from oria_runtime.knowledge.fetching.policy import Fetched
from oria_runtime.knowledge.indexes import Index, read_indexes
from oria_runtime.knowledge.refresh.embedding import Embedder
from oria_runtime.knowledge.refresh.errors import IndexSwitchedError
from oria_runtime.knowledge.refresh.failing import settle_failure
from oria_runtime.knowledge.refresh.work import Arrival, Prepared, Work
from oria_runtime.models.errors import ModelError
from oria_runtime.observability import describe, logger

# A language is told by that much of a text.
LANGUAGE_CHARACTERS = 20_000
# The part of a page's chunks that its canonical location must have for the two to be one document.
SAME_DOCUMENT = 0.5


@dataclass(frozen=True)
class Embedded:
    """What the models made of a version: for each index the new vectors, None for a refused chunk; and the chunks that
    were refused before. `left` are those that an index version that is being built is to embed later."""

    vectors: Mapping[UUID, Mapping[UUID, str | None]]
    refused: frozenset[UUID]
    left: Mapping[UUID, Sequence[UUID]]

    @property
    def made(self) -> list[str | None]:
        return [vector for vectors in self.vectors.values() for vector in vectors.values()]

    def count_refused(self) -> int:
        """The chunks that at least one index has no vector for."""
        new = {chunk for vectors in self.vectors.values() for chunk, vector in vectors.items() if vector is None}
        return len(new | self.refused)


async def prepare_version(work: Work, arrival: Arrival) -> None:
    """Read what was fetched, and have it wait for `flush` to put it in the place of what is indexed.

    Raises ExtractionError when it cannot be read; nothing has changed then.
    """
    fetched = arrival.fetched
    content = await read_content(fetched.body, fetched.media_type, fetched.charset_declared, fetched.location)
    drafts = await asyncio.to_thread(split, content)
    if not drafts and not asks_not_to_be_indexed(content):
        await flush(work)
        links = [link.location for link in content.links]
        await settle_failure(work, arrival.visit, "empty", "no_text", judged=True, links=links)
        return
    location = await choose_location(work, fetched, content, drafts)
    if location != fetched.location and location in work.done:
        await settle_spelling(work, arrival, location)
        return
    version = await asyncio.to_thread(build_version, work.claim.key.source_id, location, fetched, content, drafts)
    stored = await work.find(location)
    # Without its body: a few dozen may wait, of 20 MB each.
    read = replace(arrival, fetched=replace(fetched, body=b""))
    work.wait_for(Prepared(read, version, drafts, stored if stored and stored.location == location else None))


async def flush(work: Work) -> None:
    """Embed what is new in the versions that wait, together, and swap one document after the other.

    Raises ModelError when they cannot be embedded; those documents have not changed then.
    """
    while work.waiting:
        embedded = await embed_versions(work, work.waiting)
        try:
            for vectors in embedded:
                await write_version(work, work.waiting[0], vectors)
                work.waiting.pop(0)
        except IndexSwitchedError:
            # Rarely, and once: an index version was begun or completed while the vectors were made.
            continue


def asks_not_to_be_indexed(content: Content) -> bool:
    """Whether the page says so of itself."""
    return any(warning.get("code") == "noindex" for warning in content.warnings)


async def choose_location(work: Work, fetched: Fetched, content: Content, drafts: Sequence[Draft]) -> str:
    """Where the document belongs: at the location that the page names as its own, if that is one of the source.

    A page may be wrong about itself (a template that names the home page everywhere). Where the named location was
    visited, it must have the same text.
    """
    canonical = content.canonical
    if canonical is None or canonical == fetched.location or not work.claim.scope.admits(canonical):
        return fetched.location
    if canonical not in work.done:
        return canonical
    await flush(work)
    # It may have been a redirect to its document.
    document = await work.find(canonical)
    if document is None:
        return fetched.location
    async with work.database.transaction() as connection:
        stored = await read_chunk_ids(connection, document.id)
    same = stored.intersection(identify(document.id, drafts))
    return document.location if drafts and len(same) >= SAME_DOCUMENT * len(drafts) else fetched.location


async def settle_spelling(work: Work, arrival: Arrival, canonical: str) -> None:
    """The page is another spelling of a document that was visited before."""
    document_id = derive_document_id(work.claim.key.source_id, canonical)
    async with work.write() as connection, connection.pipeline():
        await work.finish(connection, arrival, document_id, canonical, ())
    work.done.update(arrival.spellings)


def build_version(
    source_id: UUID, location: str, fetched: Fetched, content: Content, drafts: Sequence[Draft]
) -> Version:
    """What is stored of a document. Of a page that asks not to be indexed, not even the old text stays."""
    ids = identify(derive_document_id(source_id, location), drafts)
    version = Version(
        location=location,
        title=content.title,
        language=detect_language("\n".join(draft.text for draft in drafts)[:LANGUAGE_CHARACTERS]),
        media_type=fetched.media_type,
        served_from=fetched.location,
        etag=fetched.validators.etag,
        last_modified=fetched.validators.last_modified,
        body_hash=fetched.body_hash,
        status="indexed",
        warnings=content.warnings,
        links=[link.location for link in content.links],
        chunks=[Chunk(own, draft.path, draft.anchor, draft.text) for own, draft in zip(ids, drafts, strict=True)],
    )
    if drafts:
        return version
    return replace(version, status="empty", reason="noindex", etag=None, last_modified=None, body_hash=None)


async def embed_versions(work: Work, waiting: Sequence[Prepared]) -> list[Embedded]:
    """For each version the vectors of the chunks that an index has none of; of all its chunks when its title, which is
    embedded with them, is another than the stored document's."""
    kept = [chunk.id for each in waiting if not each.is_retitled for chunk in each.version.chunks]
    async with work.database.transaction() as connection:
        indexes = await read_indexes(connection)
        known = {index.id: await read_embedded(connection, index, kept) for index in indexes}
    texts = {own: text for each in waiting for own, text in each.texts().items()}
    made = {index.id: await embed_texts(work, index, texts, known[index.id]) for index in indexes}
    return [select_embedded(each, made, known) for each in waiting]


async def embed_texts(
    work: Work, index: Index, texts: Mapping[UUID, str], known: Container[UUID]
) -> dict[UUID, str | None] | None:
    """Vectors of one index for the chunks that are not known there. None where the index is still being built and its
    model is away: the active one must not wait for it. Raises ModelError for the active one."""
    if index.id in work.away and index.status != "active":
        return None
    wanted = {own: text for own, text in texts.items() if own not in known}
    embedder = work.embedders.setdefault(index.id, Embedder(work.models, index.address))
    try:
        return dict(zip(wanted, await embedder.embed(list(wanted.values())), strict=True))
    except ModelError as error:
        if index.status == "active":
            raise
        logger.warning("index version left behind", extra={"index_id": str(index.id), **describe(error)})
        work.away.add(index.id)
        return None


def select_embedded(
    prepared: Prepared, made: Mapping[UUID, Mapping[UUID, str | None] | None], known: Mapping[UUID, Mapping[UUID, bool]]
) -> Embedded:
    """One version's part of what the models made, and of what was known before."""
    ids = [chunk.id for chunk in prepared.version.chunks]
    return Embedded(
        {index: {own: (new or {})[own] for own in ids if own in (new or {})} for index, new in made.items()},
        frozenset(own for had in known.values() for own in ids if had.get(own)),
        {index: [own for own in ids if own not in known[index]] for index, new in made.items() if new is None},
    )


def describe_version(prepared: Prepared, embedded: Embedded) -> tuple[Version, dict[str, int]]:
    """The version with what is to be said about its chunks, and what it adds to the refresh's counts."""
    version, stored, refused = prepared.version, prepared.stored, embedded.count_refused()
    if refused:
        version = replace(version, warnings=[*version.warnings, {"code": "chunks_refused", "count": refused}])
    outcome = "new" if stored is None or stored.status == "gone" else "changed"
    return version, {
        outcome if version.status == "indexed" else version.status: 1,
        "chunks": len(version.chunks),
        "embedded": len(embedded.made) - embedded.made.count(None),
        "refused_chunks": refused,
    }


async def write_version(work: Work, prepared: Prepared, embedded: Embedded) -> None:
    """Swap the document, in one transaction with the visit and what it leads to. Raises IndexSwitchedError when there
    are other indexes than those that were embedded for."""
    version, added = describe_version(prepared, embedded)
    async with work.write(added) as connection:
        statuses = {index.id: index.status for index in await read_indexes(connection, lock=True)}
        indexes = statuses.keys()
        # What is left behind is built later; nobody builds an active index.
        if not indexes <= embedded.vectors.keys() or any(statuses.get(left) == "active" for left in embedded.left):
            raise IndexSwitchedError("vectors are missing for an index")
        vectors = {index_id: made for index_id, made in embedded.vectors.items() if index_id in indexes}
        document_id = await swap_document(connection, work.claim.key, version, vectors)
        for index_id, chunks in embedded.left.items():
            # What is known of them there may be of another title.
            await delete_vectors(connection, index_id, chunks)
        async with connection.pipeline():
            await work.finish(connection, prepared.arrival, document_id, version.location, version.links)
