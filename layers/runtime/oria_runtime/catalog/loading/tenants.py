"""Importing tenants: a file of organisations and their configurations."""

import time
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from oria_runtime.catalog.identifiers import derive_tenant_id
from oria_runtime.catalog.loading.checks import reject_row
from oria_runtime.catalog.loading.errors import ErrorLog, ImportStoppedError, RowError, RowRejectedError
from oria_runtime.catalog.loading.ledger import Ledger, open_ledger
from oria_runtime.catalog.loading.rows import TenantRow
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.db.pool import Pool, TenantDatabase

FIND_TENANT_SQL = "select tenant_by_slug(%s) as id"
READ_TENANT_SQL = "select slug, name, config from tenants where id = %s"
UPSERT_TENANT_SQL = """
insert into tenants (id, slug, name, config) values (%s, %s, %s, %s)
on conflict (id) do update set slug = excluded.slug, name = excluded.name, config = excluded.config
"""


async def find_tenant(pool: Pool, name: str) -> UUID:
    """The id of the tenant with this slug or id. Raises ImportStoppedError when there is none."""
    async with pool.connection() as connection:
        found = await read_tenant_id(connection, name)
    if found is not None:
        return found
    try:
        tenant_id = UUID(name)
    except ValueError:
        tenant_id = derive_tenant_id(name)
    async with TenantDatabase(pool, tenant_id).transaction() as connection:
        if await (await connection.execute(READ_TENANT_SQL, (tenant_id,))).fetchone() is None:
            raise ImportStoppedError(f"there is no tenant {name!r}: import it first (--kind tenant), or check --tenant")
    return tenant_id


async def read_tenant_id(connection: AsyncConnection[DictRow], slug: str) -> UUID | None:
    """The id behind a slug."""
    row = await (await connection.execute(FIND_TENANT_SQL, (slug,))).fetchone()
    return row["id"] if row else None


async def import_tenants(pool: Pool, source: Source, log: ErrorLog, *, strict: bool, dry_run: bool) -> Summary:
    """Insert and update the tenants of a file, each in its own transaction; with `strict` only if all rows are good."""
    summary = Summary()
    started = time.monotonic()
    with open_ledger() as ledger:
        check_tenants(source, ledger, log)
        if not (strict and log.rows):
            for number, row in source.rows():
                if isinstance(row, TenantRow) and not ledger.is_rejected(number):
                    await import_tenant(pool, number, row, log, summary, dry_run=dry_run)
    summary.failed = log.rows
    summary.seconds = time.monotonic() - started
    return summary


def check_tenants(source: Source, ledger: Ledger, log: ErrorLog) -> None:
    """Note in the ledger which rows are rejected, and in the log why."""
    for number, row in source.rows():
        if isinstance(row, RowRejectedError):
            reject_row(ledger, log, number, *row.errors)
        elif isinstance(row, TenantRow) and (first := ledger.claim(row.slug, number)) is not None:
            column = source.mapping.describe("slug")
            reject_row(ledger, log, number, RowError(number, column, f"the same slug as in row {first}"))


async def import_tenant(
    pool: Pool, number: int, row: TenantRow, log: ErrorLog, summary: Summary, *, dry_run: bool
) -> None:
    """Write one tenant when it is new or differs."""
    async with pool.connection() as connection:
        existing = await read_tenant_id(connection, row.slug)
    if existing is not None and row.id not in (None, existing):
        log.add([RowError(number, "slug", f"belongs to another tenant, {existing}")])
        return
    tenant_id = existing or row.id or derive_tenant_id(row.slug)
    wanted = {"slug": row.slug, "name": row.name, "config": row.config.model_dump(mode="json", exclude_defaults=True)}
    async with TenantDatabase(pool, tenant_id).transaction() as connection:
        stored = await (await connection.execute(READ_TENANT_SQL, (tenant_id,))).fetchone()
        if stored == wanted:
            summary.unchanged += 1
            return
        if not dry_run:
            values = (tenant_id, row.slug, row.name, Jsonb(wanted["config"]))
            await connection.execute(UPSERT_TENANT_SQL, values)
    summary.inserted += stored is None
    summary.updated += stored is not None
