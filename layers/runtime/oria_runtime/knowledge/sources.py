"""Sources of knowledge: the rows that administrators write and that refreshes and researches read.

Everything here runs inside a transaction of the tenant. Unknown and foreign sources look the same: NotFoundError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, LiteralString
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.errors import ConflictError, NotFoundError
from oria_runtime.knowledge.limits import DOCUMENTS_PER_DELETE, SOURCES
from oria_runtime.knowledge.locations import Scope

SourceKind = Literal["web", "sitemap", "s3", "upload"]
SourceStatus = Literal["active", "disabled"]

COLUMNS: Final = """
    id, tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents, cadence_seconds, status,
    next_refresh_at, created_by, created_at, updated_at
"""
# Sources are created one after the other, so that a tenant never has one too many.
LOCK_TENANT_SQL = "select pg_advisory_xact_lock(hashtextextended(current_setting('app.tenant'), 9))"
COUNT_SOURCES_SQL = "select count(*) as sources, count(*) filter (where name = %s) as same from knowledge_sources"
INSERT_SOURCE_SQL = f"""
insert into knowledge_sources (tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents,
    cadence_seconds, created_by, requested)
values (current_setting('app.tenant')::uuid, %(name)s, %(kind)s, %(location)s, %(origins)s, %(path_prefixes)s,
    %(max_depth)s, %(max_documents)s, %(cadence_seconds)s, %(created_by)s, true)
returning {COLUMNS}
"""  # noqa: S608 - constants only
LIST_SOURCES_SQL = f'select {COLUMNS} from knowledge_sources order by name collate "C"'  # noqa: S608
READ_SOURCE_SQL = f"select {COLUMNS} from knowledge_sources where id = %s"  # noqa: S608
LIST_PAGES_SOURCES_SQL = f"""
select {COLUMNS} from knowledge_sources where status = 'active' and kind = 'web' order by created_at, id
"""  # noqa: S608 - constants only
# A source that was disabled is due at once when it comes back: what it knows may be long out of date.
CHANGE_SOURCE_SQL = f"""
update knowledge_sources set name = coalesce(%(name)s, name), status = coalesce(%(status)s, status),
    max_depth = coalesce(%(max_depth)s, max_depth), max_documents = coalesce(%(max_documents)s, max_documents),
    next_refresh_at = case
        when status = 'disabled' and %(status)s = 'active' then now()
        else least(next_refresh_at, now() + make_interval(secs => coalesce(%(cadence_seconds)s, cadence_seconds)))
    end,
    cadence_seconds = coalesce(%(cadence_seconds)s, cadence_seconds), updated_at = now()
where id = %(id)s
returning {COLUMNS}
"""  # noqa: S608 - constants only
FIND_NAMESAKE_SQL = "select 1 from knowledge_sources where name = %s and id <> %s"
REQUEST_REFRESH_SQL = """
update knowledge_sources set next_refresh_at = least(next_refresh_at, now()), requested = true
where id = %s and status = 'active'
"""
DISABLE_SOURCE_SQL = "update knowledge_sources set status = 'disabled' where id = %s"
DELETE_DOCUMENTS_SQL = f"""
delete from knowledge_documents where id in (
    select id from knowledge_documents where source_id = %s limit {DOCUMENTS_PER_DELETE})
"""  # noqa: S608 - constants only
DELETE_DOCUMENT_SQL = "delete from knowledge_documents where source_id = %s and location = %s"
DELETE_SOURCE_SQL = "delete from knowledge_sources where id = %s"


@dataclass(frozen=True)
class Source:
    """A place that knowledge comes from. `location` is the entry URL, the sitemap's URL or `s3://bucket/prefix`."""

    id: UUID
    tenant_id: UUID
    name: str
    kind: SourceKind
    location: str | None
    scope: Scope
    max_depth: int
    max_documents: int
    cadence_seconds: int
    status: SourceStatus
    next_refresh_at: datetime
    created_by: str
    created_at: datetime
    updated_at: datetime

    @property
    def origins(self) -> Sequence[str]:
        return self.scope.origins

    @property
    def path_prefixes(self) -> Sequence[str]:
        return self.scope.path_prefixes


@dataclass(frozen=True)
class NewSource:
    """A source to be; `location` and `scope` are checked (rules.check_place)."""

    name: str
    kind: SourceKind
    location: str | None
    scope: Scope
    max_depth: int
    max_documents: int
    cadence_seconds: int


@dataclass(frozen=True)
class SourceChange:
    """What an administrator changes; None leaves it."""

    name: str | None = None
    status: SourceStatus | None = None
    max_depth: int | None = None
    max_documents: int | None = None
    cadence_seconds: int | None = None


def read_row(row: Mapping[str, Any]) -> Source:
    """A row as a source."""
    values = {name: row[name] for name in row if name not in ("origins", "path_prefixes")}
    return Source(scope=Scope(tuple(row["origins"]), tuple(row["path_prefixes"])), **values)


async def create_source(connection: Connection, new: NewSource, created_by: str) -> Source:
    """The stored source, due at once. Raises ConflictError for a name that is taken, or one source too many."""
    await connection.execute(LOCK_TENANT_SQL)
    found = await _fetch_one(connection, COUNT_SOURCES_SQL, (new.name,))
    if found["same"]:
        raise ConflictError("There is a source of this name already.")
    if found["sources"] >= SOURCES:
        raise ConflictError(f"There are {SOURCES} sources already; delete one first.")
    values = {name: getattr(new, name) for name in ("name", "kind", "location", "max_depth", "max_documents")}
    scope = {"origins": list(new.scope.origins), "path_prefixes": list(new.scope.path_prefixes)}
    rest = {"cadence_seconds": new.cadence_seconds, "created_by": created_by}
    return read_row(await _fetch_one(connection, INSERT_SOURCE_SQL, values | scope | rest))


async def list_sources(connection: Connection) -> list[Source]:
    """All sources of the tenant, by name."""
    return [read_row(row) for row in await (await connection.execute(LIST_SOURCES_SQL)).fetchall()]


async def list_pages_sources(connection: Connection) -> list[Source]:
    """The active sources whose entry pages a research reads, the oldest first."""
    return [read_row(row) for row in await (await connection.execute(LIST_PAGES_SOURCES_SQL)).fetchall()]


async def read_source(connection: Connection, source_id: UUID) -> Source:
    """The source of that id. Raises NotFoundError."""
    return read_row(await _fetch_one(connection, READ_SOURCE_SQL, (source_id,)))


async def change_source(connection: Connection, source_id: UUID, change: SourceChange) -> Source:
    """The source with the changes. Raises NotFoundError, and ConflictError for a name that is taken."""
    await connection.execute(LOCK_TENANT_SQL)
    if await (await connection.execute(FIND_NAMESAKE_SQL, (change.name, source_id))).fetchone():
        await read_source(connection, source_id)
        raise ConflictError("There is a source of this name already.")
    return read_row(await _fetch_one(connection, CHANGE_SOURCE_SQL, vars(change) | {"id": source_id}))


async def request_refresh(connection: Connection, source_id: UUID) -> None:
    """Make a source due; whoever sends its message only saves it the wait for the schedule.

    Raises NotFoundError, and ConflictError for a disabled one.
    """
    cursor = await connection.execute(REQUEST_REFRESH_SQL, (source_id,))
    if cursor.rowcount == 0:
        await read_source(connection, source_id)
        raise ConflictError("The source is disabled; enable it first.")


async def disable_source(connection: Connection, source_id: UUID) -> Source:
    """Stop refreshes and searches of a source before it is deleted bit by bit. Raises NotFoundError."""
    await connection.execute(DISABLE_SOURCE_SQL, (source_id,))
    return await read_source(connection, source_id)


async def delete_documents(connection: Connection, source_id: UUID) -> bool:
    """Delete some documents with their chunks and vectors; whether there may be more."""
    cursor = await connection.execute(DELETE_DOCUMENTS_SQL, (source_id,))
    return cursor.rowcount == DOCUMENTS_PER_DELETE


async def delete_document(connection: Connection, source_id: UUID, location: str) -> None:
    """Delete one document at once: what an administrator takes away needs no grace."""
    await connection.execute(DELETE_DOCUMENT_SQL, (source_id, location))


async def delete_source(connection: Connection, source_id: UUID) -> None:
    """Delete the rest. A source that is gone meanwhile is deleted."""
    await connection.execute(DELETE_SOURCE_SQL, (source_id,))


async def _fetch_one(connection: Connection, query: LiteralString, values: Any) -> Mapping[str, Any]:
    row = await (await connection.execute(query, values)).fetchone()
    if row is None:
        raise NotFoundError("There is no such source.")
    return row
