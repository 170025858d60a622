"""A source is never refreshed twice at once: one worker holds its lease, and every transaction that writes checks it.

A worker that was frozen, cut off or thought dead finds its token replaced and writes nothing. The check is an UPDATE of
the source's row: it renews the lease, and holds the row until the transaction ends, so that nobody takes the lease, and
nobody disables or deletes the source, between the check and the commit.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.knowledge.documents import RefreshKey
from oria_runtime.knowledge.locations import Scope
from oria_runtime.knowledge.refresh.errors import LeaseLostError
from oria_runtime.knowledge.refresh.limits import HISTORY, LEASE_SECONDS, QUEUED_SECONDS, REFRESH_SECONDS
from oria_runtime.tenancy.tenants import Tenant, read_tenant

CLAIM_SOURCE_SQL = f"""
update knowledge_sources set lease = %(token)s, queued_until = null,
    lease_expires_at = now() + interval '{LEASE_SECONDS} seconds'
where id = %(source)s and status = 'active' and next_refresh_at <= now()
    and coalesce(lease_expires_at, '-infinity') < now()
returning *
"""  # noqa: S608 - constants only
READ_RUNNING_SQL = f"""
select *, started_at < now() - interval '{REFRESH_SECONDS} seconds' as overdue
from knowledge_refreshes where source_id = %s and status = 'running'
"""  # noqa: S608 - constants only
START_REFRESH_SQL = """
insert into knowledge_refreshes (tenant_id, source_id, trigger)
values (current_setting('app.tenant')::uuid, %s, %s)
returning *, false as overdue
"""
TAKE_REQUEST_SQL = "update knowledge_sources set requested = false where id = %s"
FORGET_REFRESHES_SQL = f"""
delete from knowledge_refreshes where source_id = %s and id not in (
    select id from knowledge_refreshes where source_id = %s order by started_at desc limit {HISTORY})
"""  # noqa: S608 - constants only
FENCE_SQL = f"""
update knowledge_sources set lease_expires_at = now() + interval '{LEASE_SECONDS} seconds'
where id = %s and lease = %s and status = 'active'
returning id
"""  # noqa: S608 - constants only
SAVE_COUNTS_SQL = "update knowledge_refreshes set counts = %s where id = %s"
RELEASE_SQL = """
update knowledge_sources set lease = null, lease_expires_at = null,
    queued_until = case when %(hold)s::float8 is null then null else now() + make_interval(secs => %(hold)s) end
where id = %(source)s and lease = %(token)s
"""
# Only when nobody works on it: a worker that does stops by itself.
STOP_DISABLED_SQL = """
with stopped as (
    update knowledge_refreshes r set status = 'failed', finished_at = now(), error = %(error)s
    from knowledge_sources s
    where s.id = %(source)s and s.status <> 'active' and r.source_id = s.id and r.status = 'running'
        and (s.lease = %(token)s or coalesce(s.lease_expires_at, '-infinity') < now())
    returning r.id
), forgotten as (
    delete from knowledge_visits where refresh_id in (select id from stopped)
)
select id from stopped
"""
DISABLED = {"reason": "disabled", "detail": "The source was disabled while it was refreshed."}


@dataclass
class Claim:
    """A refresh that this worker runs. `counts` are what is committed of it; `overdue` ones are to be given up.
    `requested`: it has ended, and another one was asked for meanwhile."""

    tenant: Tenant
    token: UUID
    key: RefreshKey
    kind: str
    location: str | None
    scope: Scope
    max_depth: int
    max_documents: int
    cadence_seconds: int
    trigger: str
    started_at: datetime
    seeded: bool
    partial: bool
    overdue: bool
    counts: dict[str, int] = field(default_factory=dict)
    requested: bool = False


async def claim_source(database: TenantDatabase, source_id: UUID) -> Claim | None:
    """Take the lease of a due source, with its running refresh or a new one; None when there is nothing to claim."""
    arguments = {"token": uuid4(), "source": source_id}
    async with database.transaction() as connection:
        source = await (await connection.execute(CLAIM_SOURCE_SQL, arguments)).fetchone()
        if source is None:
            return None
        refresh = await (await connection.execute(READ_RUNNING_SQL, (source_id,))).fetchone()
        if refresh is None:
            refresh = await _start_refresh(connection, source)
        tenant = await read_tenant(connection, database.tenant_id)
    return _claim(tenant, source, refresh)


async def _start_refresh(connection: Connection, source: Mapping[str, Any]) -> dict[str, Any]:
    trigger = "manual" if source["requested"] else "schedule"
    started = await (await connection.execute(START_REFRESH_SQL, (source["id"], trigger))).fetchone()
    assert started is not None  # noqa: S101 - an insert that returns
    await connection.execute(TAKE_REQUEST_SQL, (source["id"],))
    await connection.execute(FORGET_REFRESHES_SQL, (source["id"], source["id"]))
    return started


def _claim(tenant: Tenant, source: Mapping[str, Any], refresh: Mapping[str, Any]) -> Claim:
    return Claim(
        tenant=tenant,
        token=source["lease"],
        key=RefreshKey(source["id"], refresh["id"]),
        scope=Scope(tuple(source["origins"]), tuple(source["path_prefixes"])),
        **{name: source[name] for name in ("kind", "location", "max_depth", "max_documents", "cadence_seconds")},
        **{name: refresh[name] for name in ("trigger", "started_at", "seeded", "partial", "overdue")},
        counts=dict(refresh["counts"]),
    )


@asynccontextmanager
async def fenced(
    database: TenantDatabase, claim: Claim, added: Mapping[str, int] | None = None
) -> AsyncIterator[Connection]:
    """A transaction of the worker that holds the lease, which it renews. `added`, which may be filled inside, is added
    to the refresh's counts with it. Raises LeaseLostError before anything is written."""
    async with database.transaction() as connection:
        cursor = await connection.execute(FENCE_SQL, (claim.key.source_id, claim.token))
        if await cursor.fetchone() is None:
            raise LeaseLostError("the source is no longer this worker's")
        yield connection
        counts = add_counts(claim.counts, added or {})
        if counts != claim.counts:
            await connection.execute(SAVE_COUNTS_SQL, (Jsonb(counts), claim.key.refresh_id))
    claim.counts = counts


def add_counts(counts: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    """The sum, name by name."""
    return {name: counts.get(name, 0) + added.get(name, 0) for name in (*counts, *added)}


async def release(database: TenantDatabase, claim: Claim, *, queued_for: float | None) -> None:
    """Give the lease back. `queued_for` is the delay of a follow-up message; None: there is none."""
    hold = None if queued_for is None else queued_for + QUEUED_SECONDS
    arguments = {"source": claim.key.source_id, "token": claim.token, "hold": hold}
    async with database.transaction() as connection:
        await connection.execute(RELEASE_SQL, arguments)


async def stop_disabled(database: TenantDatabase, source_id: UUID, token: UUID | None = None) -> bool:
    """End the running refresh of a source that was disabled, unless another worker does; answers whether it did."""
    arguments = {"source": source_id, "token": token, "error": Jsonb(DISABLED)}
    async with database.transaction() as connection:
        stopped = await (await connection.execute(STOP_DISABLED_SQL, arguments)).fetchone()
    return stopped is not None
