"""Building a version of the vector index beside the active one, switching to it, and deleting the old one.

Chunks without a vector are embedded batch by batch. Transactions that write here and swaps of documents exclude each
other by the row of the index (`read_indexes(lock=True)`), so that no chunk is missed and no old text is embedded for a
new one.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from psycopg import errors

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.knowledge.chunking import Draft, embedded_text
from oria_runtime.knowledge.documents import write_vectors
from oria_runtime.knowledge.indexes import lock_indexes, switch_index
from oria_runtime.knowledge.refresh.due import send_marked
from oria_runtime.knowledge.refresh.embedding import Embedder
from oria_runtime.knowledge.refresh.errors import LeaseLostError
from oria_runtime.knowledge.refresh.limits import (
    BUILD_CHUNKS,
    HANDOVER_SECONDS,
    LEASE_SECONDS,
    QUEUED_SECONDS,
    RETIRED_VECTORS,
)
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.queue import Entry, RefreshQueue
from oria_runtime.models.client import build_models
from oria_runtime.models.errors import ModelError
from oria_runtime.observability import count, describe, logger
from oria_runtime.tenancy.tenants import read_tenant
from oria_runtime.turns.invocation import Invocation

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

CLAIM_INDEX_SQL = f"""
update knowledge_indexes set lease = %(token)s, queued_until = null,
    lease_expires_at = now() + interval '{LEASE_SECONDS} seconds'
where id = %(index)s and status <> 'active' and coalesce(lease_expires_at, '-infinity') < now()
returning id, model, address, status
"""  # noqa: S608 - constants only
FENCE_INDEX_SQL = f"""
update knowledge_indexes set lease_expires_at = now() + interval '{LEASE_SECONDS} seconds'
where id = %s and lease = %s and status = %s
returning id
"""  # noqa: S608 - constants only
RELEASE_INDEX_SQL = """
update knowledge_indexes set lease = null, lease_expires_at = null,
    queued_until = case when %(hold)s::float8 is null then null else now() + make_interval(secs => %(hold)s) end
where id = %(index)s and lease = %(token)s
"""
READ_MISSING_SQL = f"""
select c.id, c.path, c.anchor, c.content, c.document_id, d.title
from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
where c.tenant_id = current_setting('app.tenant')::uuid and c.id > %(after)s
    and not exists (select from knowledge_vectors v where v.index_id = %(index)s and v.chunk_id = c.id)
    and not exists (select from knowledge_refusals r where r.index_id = %(index)s and r.chunk_id = c.id)
order by c.id limit {BUILD_CHUNKS}
"""  # noqa: S608 - a constant
# A chunk that was swapped away, or whose document has another title now, is not what was embedded.
KEEP_CURRENT_SQL = """
select c.id from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
join unnest(%s::uuid[], %s::text[]) as embedded (id, title) on embedded.id = c.id
where d.title is not distinct from embedded.title
"""
DELETE_VECTORS_SQL = f"""
delete from knowledge_vectors where (index_id, chunk_id) in (
    select index_id, chunk_id from knowledge_vectors where index_id = %s limit {RETIRED_VECTORS})
"""  # noqa: S608 - a constant
DELETE_INDEX_SQL = "delete from knowledge_indexes where id = %s"
FIRST = UUID(int=0)


@dataclass(frozen=True)
class Build:
    """An index version that this worker builds or deletes."""

    database: TenantDatabase
    index_id: UUID
    status: str
    token: UUID

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        """A transaction under the lease, which it renews. Raises LeaseLostError before anything is written."""
        async with self.database.transaction() as connection:
            fence = (self.index_id, self.token, self.status)
            if await (await connection.execute(FENCE_INDEX_SQL, fence)).fetchone() is None:
                raise LeaseLostError("the index version is no longer this worker's")
            yield connection


async def build_index(sandbox: "Sandbox", message: RefreshMessage, invocation: Invocation) -> str:
    """Go on with the index version that a message names; says how it ended.

    `switched`: it is complete and active. `dropped`: it was retired and is deleted. `continued`: a follow-up message
    goes on. `unavailable`: its model cannot be asked; the schedule tries again. `not_claimed`, `lease_lost`: as a
    refresh.
    """
    assert message.index_id is not None  # noqa: S101 - the caller's condition
    database, token = sandbox.database(message.tenant_id), uuid4()
    async with database.transaction() as connection:
        arguments = {"token": token, "index": message.index_id}
        row = await (await connection.execute(CLAIM_INDEX_SQL, arguments)).fetchone()
        tenant = await read_tenant(connection, message.tenant_id) if row is not None else None
    if row is None or tenant is None:
        return "not_claimed"
    build = Build(database, message.index_id, row["status"], token)
    try:
        if build.status == "retired":
            done = await drop_index(build, invocation)
        else:
            models = build_models(sandbox.settings.models, tenant.config, environ=sandbox.environ)
            done = await fill_index(build, Embedder(models, row["address"]), invocation)
    except LeaseLostError:
        return "lease_lost"
    except ModelError as error:
        logger.error("index version not built", extra={"index_id": str(message.index_id), **describe(error)})
        await release_index(build, hold=QUEUED_SECONDS)
        return "unavailable"
    if done:
        result = "dropped" if build.status == "retired" else "switched"
        count("knowledge_indexes", result=result)
        return result
    await release_index(build, hold=QUEUED_SECONDS)
    await send_marked(sandbox, RefreshQueue(sandbox.settings.refresh_queue_url), [Entry(message)])
    return "continued"


async def release_index(build: Build, *, hold: float) -> None:
    """Give the lease back; the schedule leaves the version alone for `hold` seconds."""
    async with build.database.transaction() as connection:
        arguments = {"index": build.index_id, "token": build.token, "hold": hold}
        await connection.execute(RELEASE_INDEX_SQL, arguments)


async def fill_index(build: Build, embedder: Embedder, invocation: Invocation) -> bool:
    """Embed what is missing and switch; False when the time is over first."""
    after = FIRST
    while invocation.remaining() > HANDOVER_SECONDS:
        async with build.database.transaction() as connection:
            arguments = {"index": build.index_id, "after": after}
            rows = await (await connection.execute(READ_MISSING_SQL, arguments)).fetchall()
        if rows:
            await embed_rows(build, embedder, rows)
            after = rows[-1]["id"]
        elif after != FIRST:
            # From the beginning again: swaps may have left chunks behind.
            after = FIRST
        elif await switch_when_complete(build):
            return True
    return False


async def embed_rows(build: Build, embedder: Embedder, rows: Sequence[dict[str, Any]]) -> None:
    """Store vectors for chunks, as far as they are still what was embedded."""
    drafts = [Draft(tuple(row["path"]), row["anchor"], row["content"]) for row in rows]
    texts = [embedded_text(row["title"], draft) for row, draft in zip(rows, drafts, strict=True)]
    vectors = dict(zip((row["id"] for row in rows), await embedder.embed(texts), strict=True))
    try:
        async with build.write() as connection:
            current = ([row["id"] for row in rows], [row["title"] for row in rows])
            kept = await (await connection.execute(KEEP_CURRENT_SQL, current)).fetchall()
            await write_vectors(connection, build.index_id, {row["id"]: vectors[row["id"]] for row in kept})
    except errors.ForeignKeyViolation:
        # A source was deleted in this moment: what is left of the batch is found in the next round.
        return


async def switch_when_complete(build: Build) -> bool:
    """Make the version the active one, unless a chunk has come meanwhile."""
    async with build.write() as connection:
        statuses = await lock_indexes(connection)
        arguments = {"index": build.index_id, "after": FIRST}
        if await (await connection.execute(READ_MISSING_SQL, arguments)).fetchone() is not None:
            return False
        active = next((index for index, status in statuses.items() if status == "active"), None)
        await switch_index(connection, active, build.index_id)
    return True


async def drop_index(build: Build, invocation: Invocation) -> bool:
    """Delete a retired version bit by bit; False when the time is over first."""
    while invocation.remaining() > HANDOVER_SECONDS:
        async with build.write() as connection:
            if (await connection.execute(DELETE_VECTORS_SQL, (build.index_id,))).rowcount == 0:
                await connection.execute(DELETE_INDEX_SQL, (build.index_id,))
                return True
    return False
