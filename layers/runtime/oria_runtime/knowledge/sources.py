"""Sources of knowledge: the rows that administrators write and that refreshes and researches read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.locations import Scope

SourceKind = Literal["web", "sitemap", "s3", "upload"]
SourceStatus = Literal["active", "disabled"]

COLUMNS: Final = """
    id, tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents, cadence_seconds, status
"""
LIST_PAGES_SOURCES_SQL = f"""
select {COLUMNS} from knowledge_sources where status = 'active' and kind = 'web' order by created_at, id
"""  # noqa: S608 - constants only


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


def read_row(row: Mapping[str, Any]) -> Source:
    """A row as a source."""
    values = {name: row[name] for name in row if name not in ("origins", "path_prefixes")}
    return Source(scope=Scope(tuple(row["origins"]), tuple(row["path_prefixes"])), **values)


async def list_pages_sources(connection: Connection) -> list[Source]:
    """The active sources whose entry pages a research reads, the oldest first."""
    cursor = await connection.execute(LIST_PAGES_SOURCES_SQL)
    return [read_row(row) for row in await cursor.fetchall()]
