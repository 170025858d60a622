"""The sweeper: what no event and no failure record settled, once a minute (DESIGN §2.2).

The list of due ids comes from a function that crosses tenants; each decision is taken again under the row's lock, so a
worker that finishes meanwhile is left alone.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.observability import count, describe, logger
from oria_runtime.turns.acceptance import promote
from oria_runtime.turns.conversations import DELETE_THREAD_SQL
from oria_runtime.turns.failures import decide, dispatch_unclaimed
from oria_runtime.turns.finish import fail_turn
from oria_runtime.turns.models import TurnStatus
from oria_runtime.turns.outbox import dispatch, send_outbox
from oria_runtime.turns.rows import lock_turn

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

# A sweep stops in time to report; what is left is due again in a minute.
SWEEP_SECONDS = 45.0
BATCH = 200
READ_DUE_SQL = "select tenant_id, turn_id, reason from due_turns(%s)"
READ_DUE_CONVERSATIONS_SQL = "select tenant_id, conversation_id from due_conversations(%s)"
# Due still: a message may have come since the list was made.
RETIRE_SQL = """
delete from conversations c using tenants t
where c.id = %s and t.id = c.tenant_id
    and c.updated_at < now() - interval '1 day' * coalesce((t.config ->> 'retention_days')::int, 365)
returning c.id
"""
STILL_DUE_SQL = """
select t.*, t.claim is null as unclaimed, t.lease_expires_at < now() as lease_over, t.deadline_at < now() as overdue,
    t.dispatched_at < now() - interval '30 seconds' * t.dispatches as waited,
    exists (
        select from interactions i where i.turn_id = t.id and i.status = 'pending' and i.expires_at < now()
    ) as expired
from turns t where t.id = %s
"""

Settle = Callable[["Sandbox", TenantDatabase, UUID], Awaitable[None]]


async def sweep(sandbox: "Sandbox", *, seconds: float = SWEEP_SECONDS) -> dict[str, int]:
    """Settle what is due; returns how many of each kind."""
    until = time.monotonic() + seconds
    settled: dict[str, int] = {}
    if sandbox.pool.closed:
        await sandbox.pool.open()
    async with sandbox.pool.connection() as connection:
        due = await (await connection.execute(READ_DUE_SQL, (BATCH,))).fetchall()
    for row in due:
        if time.monotonic() > until:
            break
        await _settle(sandbox, row["tenant_id"], row["turn_id"], row["reason"])
        settled[row["reason"]] = settled.get(row["reason"], 0) + 1
    settled["retired"] = await _retire(sandbox, until)
    for reason, number in settled.items():
        if number:
            count("swept", number, reason=reason)
    return settled


async def _settle(sandbox: "Sandbox", tenant_id: UUID, turn_id: UUID, reason: str) -> None:
    try:
        await SETTLERS[reason](sandbox, sandbox.database(tenant_id), turn_id)
    except (psycopg.Error, OSError) as error:
        # One turn's trouble must not keep the sweep from the others; it is due again in a minute.
        logger.warning("not swept", extra={"turn_id": str(turn_id), "reason": reason, **describe(error)})


async def _send(sandbox: "Sandbox", database: TenantDatabase, turn_id: UUID) -> None:
    await send_outbox(sandbox.publisher, database, turn_id)


async def _decide(sandbox: "Sandbox", database: TenantDatabase, turn_id: UUID) -> None:
    async with database.transaction() as connection:
        await lock_turn(connection, turn_id)
        row = await (await connection.execute(STILL_DUE_SQL, (turn_id,))).fetchone()
        if row is None or row["status"] not in ("accepted", "running"):
            return
        if row["unclaimed"]:
            if row["overdue"]:
                await decide(connection, sandbox.registry, row, "deadline")
            elif row["waited"]:
                await dispatch_unclaimed(connection, sandbox.registry, row)
        elif row["lease_over"]:
            await decide(connection, sandbox.registry, row, "lease_expired")
    await dispatch(sandbox, database.tenant_id, turn_id)


async def _expire(sandbox: "Sandbox", database: TenantDatabase, turn_id: UUID) -> None:
    """A pause that nobody answered in time ends its turn."""
    async with database.transaction() as connection:
        await lock_turn(connection, turn_id)
        row = await (await connection.execute(STILL_DUE_SQL, (turn_id,))).fetchone()
        if row is None or not row["expired"] or row["status"] != TurnStatus.AWAITING_INPUT:
            return
        await fail_turn(connection, row, "expired", text="expired", retryable=False)
    await dispatch(sandbox, database.tenant_id, turn_id)


async def _retire(sandbox: "Sandbox", until: float) -> int:
    """Delete conversations older than their tenant's retention."""
    async with sandbox.pool.connection() as connection:
        due = await (await connection.execute(READ_DUE_CONVERSATIONS_SQL, (BATCH,))).fetchall()
    retired = 0
    for row in due:
        if time.monotonic() > until:
            break
        try:
            retired += await _retire_one(sandbox.database(row["tenant_id"]), row["conversation_id"])
        except (psycopg.Error, OSError) as error:
            # The oldest come first: one that cannot be deleted must not keep all others for ever.
            logger.warning("not retired", extra={"conversation_id": str(row["conversation_id"]), **describe(error)})
    return retired


async def _retire_one(database: TenantDatabase, conversation_id: UUID) -> bool:
    async with database.transaction() as connection:
        if await (await connection.execute(RETIRE_SQL, (conversation_id,))).fetchone() is None:
            return False
        for statement in DELETE_THREAD_SQL:
            await connection.execute(statement, (f"{database.tenant_id}:{conversation_id}",))
    return True


SETTLERS: Mapping[str, Settle] = {
    "unsent": _send,
    "unclaimed": _decide,
    "expired_lease": _decide,
    "overdue": _decide,
    "expired_interaction": _expire,
    "stranded": promote,
}
