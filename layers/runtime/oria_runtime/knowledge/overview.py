"""What an administrator sees of a source: its documents, its last refreshes, and why something is not indexed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.sources import Source

DocumentStatus = Literal["indexed", "empty", "refused", "unreachable", "gone"]

COUNT_DOCUMENTS_SQL = """
select source_id, status, count(*) as documents from knowledge_documents where source_id = any(%s)
group by source_id, status order by status
"""
LAST_REFRESHES_SQL = """
select last.* from unnest(%s::uuid[]) as given (id)
cross join lateral (
    select id, source_id, trigger, status, counts, error, started_at, finished_at
    from knowledge_refreshes where source_id = given.id order by started_at desc, id limit 1
) as last
"""
LIST_REFRESHES_SQL = """
select id, source_id, trigger, status, counts, error, started_at, finished_at
from knowledge_refreshes where source_id = %s order by started_at desc, id limit %s
"""
LIST_DOCUMENTS_SQL = """
select id, location, title, language, media_type, status, reason, warnings, missing_since, checked_at, changed_at,
    (select count(*) from knowledge_chunks where document_id = document.id) as chunks
from knowledge_documents as document
where source_id = %(source)s and (%(status)s::text is null or status = %(status)s)
    and (%(after)s::uuid is null or location > (
        select location from knowledge_documents where source_id = %(source)s and id = %(after)s))
order by location limit %(limit)s
"""


@dataclass(frozen=True)
class Refresh:
    """One pass over a source. `counts` has the documents by outcome, and the chunks; `error` is `{reason, detail}`."""

    id: UUID
    source_id: UUID
    trigger: Literal["schedule", "manual"]
    status: Literal["running", "completed", "failed"]
    counts: Mapping[str, int]
    error: Mapping[str, str] | None
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class SourceOverview:
    """A source, its documents by status, and its last refresh."""

    source: Source
    documents: Mapping[str, int]
    last_refresh: Refresh | None


@dataclass(frozen=True)
class DocumentEntry:
    """A document of a source. `reason` is a code that says why it is not as it should be."""

    id: UUID
    location: str
    title: str | None
    language: str | None
    media_type: str | None
    status: DocumentStatus
    reason: str | None
    warnings: Sequence[Mapping[str, Any]]
    missing_since: datetime | None
    checked_at: datetime
    changed_at: datetime
    chunks: int


async def describe_sources(connection: Connection, sources: Sequence[Source]) -> list[SourceOverview]:
    """The sources with what is known of them, in two queries for all."""
    ids = [source.id for source in sources]
    counted: dict[UUID, dict[str, int]] = {source_id: {} for source_id in ids}
    for row in await (await connection.execute(COUNT_DOCUMENTS_SQL, (ids,))).fetchall():
        counted[row["source_id"]][row["status"]] = row["documents"]
    rows = await (await connection.execute(LAST_REFRESHES_SQL, (ids,))).fetchall()
    last = {row["source_id"]: Refresh(**row) for row in rows}
    return [SourceOverview(source, counted[source.id], last.get(source.id)) for source in sources]


async def list_refreshes(connection: Connection, source_id: UUID, limit: int) -> list[Refresh]:
    """The last refreshes of a source, the newest first."""
    rows = await (await connection.execute(LIST_REFRESHES_SQL, (source_id, limit))).fetchall()
    return [Refresh(**row) for row in rows]


async def list_documents(
    connection: Connection, source_id: UUID, *, status: DocumentStatus | None, after: UUID | None, limit: int
) -> tuple[list[DocumentEntry], UUID | None]:
    """Documents of a source by location, and the id to go on after; None at the end."""
    values = {"source": source_id, "status": status, "after": after, "limit": limit + 1}
    rows = await (await connection.execute(LIST_DOCUMENTS_SQL, values)).fetchall()
    items = [DocumentEntry(**row) for row in rows[:limit]]
    return items, items[-1].id if len(rows) > limit else None
