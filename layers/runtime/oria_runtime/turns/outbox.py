"""The outbox: what must reach the bus is written with what it announces, and sent after the commit.

A row is marked when the bus took it. A kill in between leaves it for the sweeper, and a duplicate finds nothing to
claim, so sending twice is harmless.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.observability import describe, logger
from oria_runtime.publisher import BusEvent, Publisher

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

APPEND_OUTBOX_SQL = """
insert into outbox (tenant_id, conversation_id, turn_id, detail_type, detail)
select tenant_id, conversation_id, id, %s, %s from turns where id = %s
"""

# Of the whole conversation, because a turn that ends promotes the next one. Without a row lock: it would end before the
# events are sent, and make this read a write that waits for the disk.
READ_UNSENT_SQL = """
select id, detail_type, detail from outbox
where conversation_id = (select conversation_id from turns where id = %s) and sent_at is null
order by id limit 10
"""
MARK_SENT_SQL = "update outbox set sent_at = now() where id = any(%s)"


async def append_outbox(
    connection: Connection, tenant_id: UUID, turn_id: UUID, detail_type: str, detail: Mapping[str, Any] | None = None
) -> None:
    """Announce something of a turn. Ids only: no text, token or profile goes on the bus (DESIGN §2.3)."""
    ids = {"tenant_id": str(tenant_id), "turn_id": str(turn_id)}
    await connection.execute(APPEND_OUTBOX_SQL, (detail_type, Jsonb(ids | dict(detail or {})), turn_id))


async def send_outbox(publisher: Publisher, database: TenantDatabase, turn_id: UUID) -> int:
    """Send what a turn's conversation has unsent; returns how many the bus took.

    Raises when the bus or the database is away.
    """
    async with database.transaction() as connection:
        rows = await (await connection.execute(READ_UNSENT_SQL, (turn_id,))).fetchall()
    if not rows:
        return 0
    taken = await publisher.publish([BusEvent(row["detail_type"], row["detail"]) for row in rows])
    sent = [row["id"] for row, ok in zip(rows, taken, strict=True) if ok]
    async with database.transaction() as connection:
        await connection.execute(MARK_SENT_SQL, (sent,))
    return len(sent)


async def dispatch(sandbox: "Sandbox", tenant_id: UUID, turn_id: UUID) -> None:
    """Send after a commit. A failure is logged, not raised: the commit stands, and the sweeper sends what is left."""
    try:
        await send_outbox(sandbox.publisher, sandbox.database(tenant_id), turn_id)
    except Exception as error:  # noqa: BLE001 - whatever the bus or the network raises, the outbox row survives
        logger.warning("outbox not sent", extra={"turn_id": str(turn_id), **describe(error)})
