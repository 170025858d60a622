"""Handing a turn to its next stage: one UPDATE and one outbox row, in the transaction of what came before."""

from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.turns.outbox import append_outbox
from oria_runtime.turns.rows import Row

# A stage of the same number is dispatched at most this often (DESIGN §2.2).
MOST_DISPATCHES = 4

NEXT_STAGE_SQL = """
update turns set status = 'running', seq = seq + 1, stage = %(stage)s, directive = %(directive)s, claim = null,
    claim_request_id = null, lease_expires_at = null, dispatched_at = now(), dispatches = %(dispatches)s
where id = %(turn)s
"""
SAME_STAGE_SQL = "update turns set dispatched_at = now(), dispatches = dispatches + 1 where id = %(turn)s"


async def dispatch_next(
    connection: Connection, row: Row, stage: str, directive: str | None = None, *, dispatches: int = 1
) -> None:
    """Move a locked turn on to the next number and announce its stage."""
    arguments = {"turn": row["id"], "stage": stage, "directive": directive, "dispatches": dispatches}
    await connection.execute(NEXT_STAGE_SQL, arguments)
    await announce_stage(connection, row["tenant_id"], row["id"], row["seq"] + 1, stage)


async def dispatch_again(connection: Connection, row: Row) -> None:
    """Announce the same number once more; duplicates find nothing to claim."""
    await connection.execute(SAME_STAGE_SQL, {"turn": row["id"]})
    await announce_stage(connection, row["tenant_id"], row["id"], row["seq"], row["stage"])


async def announce_stage(connection: Connection, tenant_id: UUID, turn_id: UUID, seq: int, stage: str) -> None:
    """The outbox row of a stage event."""
    await append_outbox(connection, tenant_id, turn_id, "turn.stage", {"seq": seq, "stage": stage})
