"""Cancelling a turn (DESIGN §2.4): at once when nothing is at work on it, by a flag when a stage is."""

from typing import TYPE_CHECKING
from uuid import UUID

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.errors import NotFoundError
from oria_runtime.turns.finish import finish_cancelled
from oria_runtime.turns.models import Turn, TurnStatus
from oria_runtime.turns.outbox import dispatch
from oria_runtime.turns.rows import Row, lock_turn, turn_from_row

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

REQUEST_CANCEL_SQL = "update turns set cancel_requested = true where id = %s"


async def cancel_turn(sandbox: "Sandbox", database: TenantDatabase, user_id: str, turn_id: UUID) -> Turn:
    """The turn, terminal unless a stage is at work: that one stops within a second and drops what it did.

    Raises NotFoundError for an unknown or foreign turn.
    """
    async with database.transaction() as connection:
        row = await lock_turn(connection, turn_id)
        if row is None or row["user_id"] != user_id:
            raise NotFoundError("no such turn")
        if not TurnStatus(row["status"]).terminal:
            await cancel_locked(connection, row)
            row = await lock_turn(connection, turn_id) or row
    await dispatch(sandbox, database.tenant_id, turn_id)
    return turn_from_row(row)


async def cancel_locked(connection: Connection, row: Row) -> None:
    """Cancel an active or queued turn whose row (or conversation) the caller has locked."""
    if row["claim"] is None:
        await finish_cancelled(connection, row)
    else:
        await connection.execute(REQUEST_CANCEL_SQL, (row["id"],))
