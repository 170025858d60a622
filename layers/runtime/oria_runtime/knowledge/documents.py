"""Documents and their chunks: finding them, and swapping one for its new version in one transaction.

Whoever reads in between sees the whole old version or the whole new one. Everything here runs inside a transaction of
the caller, which has checked its lease (`refresh.lease`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_json, clean_text
from oria_runtime.knowledge.indexes import Index
from oria_runtime.knowledge.refresh.limits import ROWS_PER_STATEMENT

Status = Literal["indexed", "empty", "refused", "unreachable", "gone"]
# A vector as Postgres reads it, or None for a chunk that the model refuses.
Vectors = Mapping[UUID, Mapping[UUID, str | None]]

FIND_DOCUMENTS_SQL = """
select asked.location as asked, found.*
from unnest(%(locations)s::text[]) as asked (location) cross join lateral (
    select id, location, title, served_from, etag, last_modified, body_hash, status, links, refresh_id
    from knowledge_documents d where source_id = %(source)s and (d.location = asked.location or id = (
        select document_id from knowledge_aliases a where source_id = %(source)s and a.location = asked.location))
    order by d.location = asked.location desc limit 1
) as found
"""
READ_CHUNKS_SQL = "select id from knowledge_chunks where document_id = %s"
READ_EMBEDDED_SQL = """
select chunk_id, false as refused from knowledge_vectors where index_id = %(index)s and chunk_id = any(%(chunks)s)
union all
select chunk_id, true from knowledge_refusals where index_id = %(index)s and chunk_id = any(%(chunks)s)
"""
UPSERT_DOCUMENT_SQL = """
insert into knowledge_documents as kept (id, tenant_id, source_id, location, title, language, media_type, served_from,
    etag, last_modified, body_hash, status, reason, warnings, links, refresh_id)
values (%(id)s, current_setting('app.tenant')::uuid, %(source)s, %(location)s, %(title)s, %(language)s, %(media_type)s,
    %(served_from)s, %(etag)s, %(last_modified)s, %(body_hash)s, %(status)s, %(reason)s,
    %(warnings)s, %(links)s, %(refresh)s)
on conflict (id) do update set title = excluded.title, language = excluded.language, media_type = excluded.media_type,
    served_from = excluded.served_from, etag = excluded.etag, last_modified = excluded.last_modified,
    body_hash = excluded.body_hash, status = excluded.status, reason = excluded.reason,
    warnings = excluded.warnings, links = excluded.links, refresh_id = excluded.refresh_id, missing_since = null,
    checked_at = now(), changed_at = now()
"""
DELETE_OTHER_CHUNKS_SQL = "delete from knowledge_chunks where document_id = %s and id <> all(%s)"
UPSERT_CHUNKS_SQL = """
insert into knowledge_chunks as kept (id, tenant_id, document_id, ordinal, path, anchor, content, language)
select id, current_setting('app.tenant')::uuid, %s, ordinal, path, anchor, content, %s
from jsonb_to_recordset(%s) as given (id uuid, ordinal int, path text[], anchor text, content text)
on conflict (id) do update set ordinal = excluded.ordinal, anchor = excluded.anchor, language = excluded.language
    where (kept.ordinal, kept.anchor, kept.language) is distinct from (
        excluded.ordinal, excluded.anchor, excluded.language)
"""
DELETE_REFUSALS_SQL = "delete from knowledge_refusals where index_id = %s and chunk_id = any(%s)"
DELETE_VECTORS_SQL = "delete from knowledge_vectors where index_id = %s and chunk_id = any(%s)"
INSERT_VECTORS_SQL = """
insert into knowledge_vectors (index_id, chunk_id, tenant_id, embedding)
select %s, chunk, current_setting('app.tenant')::uuid, embedding::public.halfvec
from unnest(%s::uuid[], %s::text[]) as given (chunk, embedding)
on conflict (index_id, chunk_id) do update set embedding = excluded.embedding
"""
INSERT_REFUSALS_SQL = """
insert into knowledge_refusals (index_id, chunk_id, tenant_id)
select %s, chunk, current_setting('app.tenant')::uuid from unnest(%s::uuid[]) as given (chunk)
on conflict do nothing
"""
# A location that became another's alias holds no document of its own any more.
DELETE_MERGED_SQL = """
delete from knowledge_documents where source_id = %s and location = any(%s) and id <> %s
"""
UPSERT_ALIASES_SQL = """
insert into knowledge_aliases (source_id, tenant_id, location, document_id)
select %s, current_setting('app.tenant')::uuid, location, %s from unnest(%s::text[]) as given (location)
on conflict (source_id, location) do update set document_id = excluded.document_id
"""
DELETE_ALIAS_SQL = "delete from knowledge_aliases where source_id = %s and location = %s"


@dataclass(frozen=True)
class RefreshKey:
    """The refresh that writes, and its source."""

    source_id: UUID
    refresh_id: UUID


@dataclass(frozen=True)
class Document:
    """A stored document.

    Validators and hash are those of the version that is indexed, as `served_from` sent it, and None when a later one
    could not be indexed; `links` are locations. `refresh_id` is the last refresh that met it.
    """

    id: UUID
    location: str
    title: str | None
    served_from: str | None
    etag: str | None
    last_modified: str | None
    body_hash: str | None
    status: Status
    links: Sequence[str]
    refresh_id: UUID | None


@dataclass(frozen=True)
class Chunk:
    """A part of a version: what is indexed of it, and where it stands."""

    id: UUID
    path: tuple[str, ...]
    anchor: str | None
    text: str


@dataclass(frozen=True)
class Version:
    """A document as it was just read: what a swap puts in the place of the old one."""

    location: str
    title: str | None
    language: str | None
    media_type: str
    served_from: str
    etag: str | None
    last_modified: str | None
    body_hash: str | None
    status: Status
    reason: str | None = None
    warnings: Sequence[Mapping[str, Any]] = ()
    links: Sequence[str] = ()
    chunks: Sequence[Chunk] = field(default=(), repr=False)


def derive_document_id(source_id: UUID, location: str) -> UUID:
    """A document's id follows from where it is."""
    return uuid5(source_id, location)


async def find_documents(connection: Connection, source_id: UUID, locations: Sequence[str]) -> dict[str, Document]:
    """For each location the document that is there, or that it is an alias of; those without one are left out."""
    cursor = await connection.execute(FIND_DOCUMENTS_SQL, {"source": source_id, "locations": list(locations)})
    return {row.pop("asked"): Document(**row) for row in await cursor.fetchall()}


async def read_chunk_ids(connection: Connection, document_id: UUID) -> set[UUID]:
    """The chunks of a document that are indexed now."""
    cursor = await connection.execute(READ_CHUNKS_SQL, (document_id,))
    return {row["id"] for row in await cursor.fetchall()}


async def read_embedded(connection: Connection, index: Index, chunks: Sequence[UUID]) -> dict[UUID, bool]:
    """Those chunks that an index's model was asked about, and of each whether it was refused a vector."""
    cursor = await connection.execute(READ_EMBEDDED_SQL, {"index": index.id, "chunks": list(chunks)})
    return {row["chunk_id"]: row["refused"] for row in await cursor.fetchall()}


async def swap_document(connection: Connection, key: RefreshKey, version: Version, vectors: Vectors) -> UUID:
    """Put a version in the place of the one before; answers the document's id.

    `vectors` has, for each index, those of the chunks that had none; None marks a refused chunk.
    """
    document_id = derive_document_id(key.source_id, version.location)
    async with connection.pipeline():
        await connection.execute(UPSERT_DOCUMENT_SQL, _document_row(key, version))
        await connection.execute(DELETE_ALIAS_SQL, (key.source_id, version.location))
        await connection.execute(DELETE_OTHER_CHUNKS_SQL, (document_id, [chunk.id for chunk in version.chunks]))
        for rows in _in_statements(_chunk_rows(version.chunks)):
            await connection.execute(UPSERT_CHUNKS_SQL, (document_id, version.language, Jsonb(rows)))
        for index_id, embedded in vectors.items():
            await write_vectors(connection, index_id, embedded)
    return document_id


def _document_row(key: RefreshKey, version: Version) -> dict[str, Any]:
    return {
        "id": derive_document_id(key.source_id, version.location),
        "source": key.source_id,
        "refresh": key.refresh_id,
        "location": version.location,
        "title": None if version.title is None else clean_text(version.title),
        "language": version.language,
        "media_type": version.media_type,
        "served_from": version.served_from,
        "etag": version.etag,
        "last_modified": version.last_modified,
        "body_hash": version.body_hash,
        "status": version.status,
        "reason": version.reason,
        "warnings": Jsonb(clean_json(version.warnings)),
        "links": Jsonb(clean_json(version.links)),
    }


def _chunk_rows(chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(chunk.id),
            "ordinal": ordinal,
            "path": clean_json(chunk.path),
            "anchor": None if chunk.anchor is None else clean_text(chunk.anchor),
            "content": clean_text(chunk.text),
        }
        for ordinal, chunk in enumerate(chunks)
    ]


def _in_statements(rows: Sequence[Any]) -> list[Sequence[Any]]:
    return [rows[start : start + ROWS_PER_STATEMENT] for start in range(0, len(rows), ROWS_PER_STATEMENT)]


async def write_vectors(connection: Connection, index_id: UUID, embedded: Mapping[UUID, str | None]) -> None:
    """Store vectors of chunks, and which chunks were refused one; what was known of them before is replaced."""
    vectors = [(chunk, vector) for chunk, vector in embedded.items() if vector is not None]
    refused = [chunk for chunk, vector in embedded.items() if vector is None]
    if refused:
        await delete_vectors(connection, index_id, refused)
        await connection.execute(INSERT_REFUSALS_SQL, (index_id, refused))
    if vectors:
        await connection.execute(DELETE_REFUSALS_SQL, (index_id, [chunk for chunk, _ in vectors]))
    for rows in _in_statements(vectors):
        chunks, texts = zip(*rows, strict=True)
        await connection.execute(INSERT_VECTORS_SQL, (index_id, list(chunks), list(texts)))


async def delete_vectors(connection: Connection, index_id: UUID, chunks: Sequence[UUID]) -> None:
    """Forget what an index knows of chunks: they are to be embedded again."""
    await connection.execute(DELETE_VECTORS_SQL, (index_id, list(chunks)))
    await connection.execute(DELETE_REFUSALS_SQL, (index_id, list(chunks)))


async def record_aliases(
    connection: Connection, key: RefreshKey, document_id: UUID, location: str, spellings: Sequence[str]
) -> None:
    """Let other spellings lead to the document at `location`; a document that one of them had of its own ends."""
    aliases = [spelling for spelling in spellings if spelling != location]
    if aliases:
        await connection.execute(DELETE_MERGED_SQL, (key.source_id, aliases, document_id))
        await connection.execute(UPSERT_ALIASES_SQL, (key.source_id, document_id, aliases))
