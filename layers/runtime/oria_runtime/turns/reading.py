"""Looking at turns, their events and their interactions. Nothing is held between looks: clients poll or stream."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.errors import NotFoundError
from oria_runtime.turns.events import EVENTS_PER_READ, READ_EVENTS_SQL, stored_event
from oria_runtime.turns.models import StoredEvent, Turn, TurnStatus
from oria_runtime.turns.rows import TURN_COLUMNS, turn_from_row

READ_TURN_SQL = f"select {TURN_COLUMNS} from turns where id = %s and user_id = %s"  # noqa: S608 - constants only
POLL_SECONDS = 0.25

SETTLED = frozenset(
    {TurnStatus.AWAITING_INPUT, TurnStatus.COMPLETED, TurnStatus.BLOCKED, TurnStatus.FAILED, TurnStatus.CANCELLED}
)


async def read_turn(database: TenantDatabase, user_id: str, turn_id: UUID) -> Turn:
    """Raises NotFoundError for an unknown or foreign turn."""
    async with database.transaction() as connection:
        return await _read(connection, user_id, turn_id)


async def read_events(
    database: TenantDatabase, user_id: str, turn_id: UUID, after_seq: int = 0
) -> Sequence[StoredEvent]:
    """Up to 500 events after a number, in order. Raises NotFoundError."""
    async with database.transaction() as connection:
        await _read(connection, user_id, turn_id)
        cursor = await connection.execute(READ_EVENTS_SQL, (turn_id, after_seq, EVENTS_PER_READ))
        return [stored_event(row) for row in await cursor.fetchall()]


async def wait_for_outcome(database: TenantDatabase, user_id: str, turn_id: UUID, seconds: float) -> Turn:
    """The turn once it ended or paused, or as it is after `seconds`. Raises NotFoundError."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        turn = await read_turn(database, user_id, turn_id)
        left = until - loop.time()
        if turn.status in SETTLED or left <= 0:
            return turn
        await asyncio.sleep(min(POLL_SECONDS, left))


async def _read(connection: Connection, user_id: str, turn_id: UUID) -> Turn:
    row = await (await connection.execute(READ_TURN_SQL, (turn_id, user_id))).fetchone()
    if row is None:
        raise NotFoundError("no such turn")
    return turn_from_row(row)
