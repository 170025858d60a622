"""Versions of the vector index: each holds the vectors of one embedding model, and one is active.

When a tenant's embedding model changes, another version is built beside the active one, and searches go on with the old
one until the new one is complete. Swaps of documents write to both meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection

Status = Literal["building", "active", "retired"]

READ_INDEXES_SQL = "select id, model, address, status from knowledge_indexes where status <> 'retired' order by status"
# A switch must not pass a swap that is being written: it would miss that document's chunks.
LOCK_INDEXES_SQL = f"{READ_INDEXES_SQL} for share"
INSERT_INDEX_SQL = """
insert into knowledge_indexes (tenant_id, model, address, status)
values (current_setting('app.tenant')::uuid, %s, %s, %s)
on conflict do nothing returning id, model, address, status
"""
MOVE_INDEX_SQL = "update knowledge_indexes set address = %s where id = %s and address <> %s"
RETIRE_INDEX_SQL = "update knowledge_indexes set status = 'retired' where id = %s"
# It may have become the active one while this statement waited for the switch: then it stays.
RETIRE_BUILDING_SQL = f"{RETIRE_INDEX_SQL} and status = 'building'"
ACTIVATE_INDEX_SQL = (
    "update knowledge_indexes set status = 'active', lease = null, lease_expires_at = null where id = %s"
)
LOCK_ALL_SQL = "select id, status from knowledge_indexes where status <> 'retired' for update"


@dataclass(frozen=True)
class Index:
    """A version of the vector index. `address` says where its model is served (`Models.embed(address=…)`)."""

    id: UUID
    model: str
    address: Mapping[str, Any]
    status: Status = "active"


async def find_active(connection: Connection) -> Index | None:
    """The index that searches use; None while nothing was ever indexed."""
    return next((index for index in await read_indexes(connection) if index.status == "active"), None)


async def read_indexes(connection: Connection, *, lock: bool = False) -> list[Index]:
    """The indexes that new vectors go to, the active one first. With `lock` none is switched before the transaction
    ends."""
    cursor = await connection.execute(LOCK_INDEXES_SQL if lock else READ_INDEXES_SQL)
    return [Index(**row) for row in await cursor.fetchall()]


async def prepare_indexes(connection: Connection, model: str, address: Mapping[str, Any]) -> Sequence[Index]:
    """The indexes for the model that the tenant configures, as `read_indexes`.

    The first one is active at once. Another model than the active one's gets a version of its own, which is to be
    built; one that was begun for a model that is configured no longer is retired.
    """
    indexes = await read_indexes(connection)
    for index in indexes:
        if index.model == model:
            await connection.execute(MOVE_INDEX_SQL, (Jsonb(address), index.id, Jsonb(address)))
        elif index.status == "building":
            await connection.execute(RETIRE_BUILDING_SQL, (index.id,))
    indexes = await read_indexes(connection)
    if not any(index.model == model for index in indexes):
        status = "building" if any(index.status == "active" for index in indexes) else "active"
        await connection.execute(INSERT_INDEX_SQL, (model, Jsonb(address), status))
    return await read_indexes(connection)


async def lock_indexes(connection: Connection) -> dict[UUID, Status]:
    """The status of every version, which nobody changes and no swap reads before the transaction ends."""
    cursor = await connection.execute(LOCK_ALL_SQL)
    return {row["id"]: row["status"] for row in await cursor.fetchall()}


async def switch_index(connection: Connection, old: UUID | None, new: UUID) -> None:
    """Make the new version the active one and retire the old one, inside a transaction that has locked both."""
    if old is not None:
        await connection.execute(RETIRE_INDEX_SQL, (old,))
    await connection.execute(ACTIVATE_INDEX_SQL, (new,))
