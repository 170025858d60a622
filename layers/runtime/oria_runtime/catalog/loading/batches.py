"""Writing a batch of rows: compare, embed, then one transaction.

The embedding comes before the transaction, because no transaction waits for a model. A batch is there as a whole or not
at all, so that running the same import again goes on where the last one stopped.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from oria_runtime.catalog.identifiers import derive_row_id
from oria_runtime.catalog.loading.embedding import Embedder, embed_texts, hash_embedded
from oria_runtime.catalog.loading.job_titles import embed_job_titles
from oria_runtime.catalog.loading.rows import CatalogRow, Kind
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.db.pool import TenantDatabase

READ_HASHES_SQL = sql.SQL("""
select external_id, content_hash, embedding_hash from {table}
where tenant_id = current_setting('app.tenant')::uuid and external_id = any(%s)
""")
# A row without an embedding_hash keeps the embedding it has. Sorted, so that two imports at once cannot deadlock.
UPSERT_ROWS_SQL = sql.SQL("""
insert into {table} as kept ({columns})
select {columns} from jsonb_populate_recordset(null::{table}, %s) order by external_id
on conflict (tenant_id, external_id) do update set
    {assignments},
    embedding = case when excluded.embedding_hash is null then kept.embedding else excluded.embedding end,
    embedding_model =
        case when excluded.embedding_hash is null then kept.embedding_model else excluded.embedding_model end,
    embedding_hash = coalesce(excluded.embedding_hash, kept.embedding_hash),
    updated_at = case when excluded.content_hash = kept.content_hash then kept.updated_at else now() end
""")
DELETE_LINKS_SQL = "delete from training_parents where training_id = any(%s)"
INSERT_LINKS_SQL = """
insert into training_parents (tenant_id, training_id, parent_id)
select current_setting('app.tenant')::uuid, child, parent
from unnest(%s::uuid[], %s::uuid[]) as links (child, parent)
on conflict do nothing
"""


@dataclass
class Change:
    """A row beside what the database has of it."""

    row: CatalogRow
    content_hash: str
    is_new: bool
    is_changed: bool
    text: str
    embedding_hash: str | None
    embedding: str | None = None

    @property
    def needs_write(self) -> bool:
        return self.is_new or self.is_changed or self.embedding_hash is not None

    @property
    def needs_embedding(self) -> bool:
        return self.embedding_hash is not None and bool(self.text)


async def import_batch(
    database: TenantDatabase, kind: Kind, rows: Sequence[CatalogRow], embedder: Embedder, *, dry_run: bool
) -> Summary:
    """Bring the rows into the catalog; with `dry_run` only say what would be done."""
    changes = await compare_rows(database, kind, rows, embedder.embedding_model)
    if not dry_run:
        await embed_changes(changes, embedder)
        await write_changes(database, kind, changes, embedder.embedding_model)
    is_named = kind.name == "jobs" and not dry_run
    titles = await embed_job_titles(database, rows, embedder) if is_named else 0
    return Summary(
        inserted=sum(change.is_new for change in changes),
        updated=sum(change.is_changed for change in changes),
        unchanged=sum(not change.is_new and not change.is_changed for change in changes),
        embedded=sum(change.needs_embedding for change in changes) + titles,
    )


async def compare_rows(
    database: TenantDatabase, kind: Kind, rows: Sequence[CatalogRow], embedding_model: str
) -> list[Change]:
    """The rows of a batch with what differs from the database."""
    async with database.transaction() as connection:
        query = READ_HASHES_SQL.format(table=sql.Identifier(kind.name))
        cursor = await connection.execute(query, ([row.external_id for row in rows],))
        stored = {found["external_id"]: found for found in await cursor.fetchall()}
    return [compare_row(row, stored.get(row.external_id), embedding_model) for row in rows]


def compare_row(row: CatalogRow, stored: Mapping[str, Any] | None, embedding_model: str) -> Change:
    """`embedding_hash` stays None where the stored embedding is of this text and model."""
    text = row.embedded_text()
    content_hash, embedding_hash = hash_content(row), hash_embedded(embedding_model, text)
    return Change(
        row=row,
        content_hash=content_hash,
        is_new=stored is None,
        is_changed=stored is not None and stored["content_hash"] != content_hash,
        text=text,
        embedding_hash=None if stored is not None and stored["embedding_hash"] == embedding_hash else embedding_hash,
    )


def hash_content(row: CatalogRow) -> str:
    """The hash of everything that is written of a row."""
    content = json.dumps([row.columns(), row.parent_ids()], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


async def embed_changes(changes: Sequence[Change], embedder: Embedder) -> None:
    """Fill in the embeddings that are missing."""
    wanting = [change for change in changes if change.needs_embedding]
    vectors = await embed_texts(embedder, [change.text for change in wanting])
    for change, vector in zip(wanting, vectors, strict=True):
        change.embedding = vector


async def write_changes(database: TenantDatabase, kind: Kind, changes: Sequence[Change], embedding_model: str) -> None:
    """Write what differs, in one transaction."""
    written = [change for change in changes if change.needs_write]
    if not written:
        return
    records = [build_record(database, kind, change, embedding_model) for change in written]
    async with database.transaction() as connection:
        await connection.execute(build_upsert(kind, records[0]), (Jsonb(records),))
        if kind.name == "trainings":
            await write_links(connection, database, [change.row for change in written])


def build_record(database: TenantDatabase, kind: Kind, change: Change, embedding_model: str) -> dict[str, Any]:
    """The columns of one row, as JSON."""
    return change.row.columns() | {
        "id": str(derive_row_id(database.tenant_id, kind.name, change.row.external_id)),
        "tenant_id": str(database.tenant_id),
        "content_hash": change.content_hash,
        "embedding": change.embedding,
        "embedding_model": embedding_model if change.embedding else None,
        "embedding_hash": change.embedding_hash,
    }


def build_upsert(kind: Kind, record: Mapping[str, Any]) -> sql.Composed:
    """The statement for the columns of a record; all records of a kind have the same."""
    fixed = {"id", "tenant_id", "external_id", "embedding", "embedding_model", "embedding_hash"}
    assignment = sql.SQL("{0} = excluded.{0}")
    return UPSERT_ROWS_SQL.format(
        table=sql.Identifier(kind.name),
        columns=sql.SQL(", ").join(map(sql.Identifier, record)),
        assignments=sql.SQL(", ").join(assignment.format(sql.Identifier(name)) for name in record if name not in fixed),
    )


async def write_links(
    connection: AsyncConnection[DictRow], database: TenantDatabase, rows: Sequence[CatalogRow]
) -> None:
    """Replace the parents of these trainings."""
    ids = {row.external_id: derive_row_id(database.tenant_id, "trainings", row.external_id) for row in rows}
    links = [
        (ids[row.external_id], derive_row_id(database.tenant_id, "trainings", parent))
        for row in rows
        for parent in row.parent_ids()
    ]
    await connection.execute(DELETE_LINKS_SQL, (list(ids.values()),))
    if links:
        children, parents = zip(*links, strict=True)
        await connection.execute(INSERT_LINKS_SQL, (list(children), list(parents)))
