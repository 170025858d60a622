"""Reading and locking the row of a turn."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.turns.models import Turn, TurnStatus

TURN_COLUMNS = """
    id, tenant_id, conversation_id, user_id, assistant, status, message, locale, seq, stage, agent, requested_agent,
    interactions, request, outcome, usage, directive, head_checkpoint, created_at, deadline_at
"""

# The order of locks is conversation, then turn, everywhere: ending a turn promotes the next one of its conversation.
LOCK_CONVERSATION_SQL = """
select id from conversations where id = (select conversation_id from turns where id = %s) for update
"""
ADD_USAGE_SQL = "update turns set usage = merge_usage(usage, %s) where id = %s"
LOCK_TURN_SQL = "select * from turns where id = %s for update"

Row = Mapping[str, Any]


def turn_from_row(row: Row) -> Turn:
    """A Turn from any row that has its columns."""
    values = {name: row[name] for name in Turn.__dataclass_fields__}
    return Turn(**values | {"status": TurnStatus(row["status"])})


async def add_usage(connection: Connection, turn_id: UUID, usage: Mapping[str, Any]) -> None:
    """Add model usage, by task label, to what the turn's row has."""
    if usage:
        await connection.execute(ADD_USAGE_SQL, (Jsonb(usage), turn_id))


async def lock_turn(connection: Connection, turn_id: UUID) -> Row | None:
    """The whole row of a turn, locked together with its conversation; None when it is gone."""
    await connection.execute(LOCK_CONVERSATION_SQL, (turn_id,))
    return await (await connection.execute(LOCK_TURN_SQL, (turn_id,))).fetchone()
