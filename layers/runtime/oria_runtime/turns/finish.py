"""`finish_turn` is the only way to a terminal state; the first terminal state is final (DESIGN §2.1).

It erases the sealed context, closes an open interaction, writes what the person reads, announces the end and promotes
the oldest queued turn of the conversation, all in the caller's transaction, under the caller's lock of the turn.
"""

from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_json
from oria_runtime.observability import count
from oria_runtime.turns.dispatching import announce_stage
from oria_runtime.turns.events import append_events
from oria_runtime.turns.models import TERMINAL_EVENTS, Event, EventType, Outcome, TurnStatus
from oria_runtime.turns.outbox import append_outbox
from oria_runtime.turns.rows import Row
from oria_runtime.turns.texts import failure_text
from oria_runtime.turns.transcript import append_message

FINISH_TURN_SQL = """
update turns set status = %(status)s, outcome = %(outcome)s, finished_at = now(), seq = seq + 1, stage = null,
    directive = null, resume_stage = null, claim = null, claim_request_id = null, lease_expires_at = null,
    sealed_context = null, sealed_expires_at = null
where id = %(turn)s and status in ('queued', 'accepted', 'running', 'awaiting_input')
returning id
"""
CLOSE_INTERACTIONS_SQL = """
update interactions set status = case when expires_at < now() then 'expired' else 'cancelled' end
where turn_id = %s and status in ('pending', 'reserved')
"""
PROMOTE_SQL = """
update turns set status = 'accepted', seq = 1, dispatched_at = now(), dispatches = 1,
    head_checkpoint = (select head_checkpoint from conversations where id = turns.conversation_id),
    deadline_at = now() + make_interval(secs => turn_seconds)
where id = (
    select id from turns where conversation_id = %(conversation)s and status = 'queued' order by created_at, id limit 1
) and not exists (
    select from turns where conversation_id = %(conversation)s and status in ('accepted', 'running', 'awaiting_input')
)
returning id, tenant_id, conversation_id, message, stage
"""


async def finish_turn(connection: Connection, row: Row, status: TurnStatus, outcome: Outcome) -> bool:
    """End a turn whose row the caller has locked and checked. False when it was terminal already."""
    arguments = {"turn": row["id"], "status": status.value, "outcome": Jsonb(clean_json(outcome.as_json()))}
    if await (await connection.execute(FINISH_TURN_SQL, arguments)).fetchone() is None:
        return False
    await connection.execute(CLOSE_INTERACTIONS_SQL, (row["id"],))
    shown = [await _show(connection, row, outcome)] if status is not TurnStatus.CANCELLED else []
    end = Event(TERMINAL_EVENTS[status], {"status": status.value, "outcome": outcome.type, "error": outcome.error})
    await append_events(connection, row["id"], [*shown, end])
    announced = {TurnStatus.FAILED: "turn.failed", TurnStatus.CANCELLED: "turn.cancelled"}
    detail = {"outcome": outcome.type}
    await append_outbox(connection, row["tenant_id"], row["id"], announced.get(status, "turn.completed"), detail)
    await promote_queued(connection, row["conversation_id"])
    count("turns", outcome=status.value, assistant=row["assistant"])
    return True


async def _show(connection: Connection, row: Row, outcome: Outcome) -> Event:
    message_id = await append_message(
        connection, row["conversation_id"], row["id"], "assistant", outcome.text,
        cards=outcome.cards, sources=outcome.sources,
    )  # fmt: skip
    data = {
        "message_id": str(message_id),
        "text": outcome.text,
        "cards": list(outcome.cards),
        "sources": list(outcome.sources),
    }
    return Event(EventType.MESSAGE_COMPLETED, data)


async def fail_turn(
    connection: Connection, row: Row, code: str, *, text: str = "failed", retryable: bool = True
) -> bool:
    """End a locked turn as failed; `text` names one of FAILURE_TEXTS, `code` says why."""
    error = {"code": code, "retryable": retryable}
    outcome = Outcome(type="failure", text=failure_text(row["locale"], text), error=error)
    return await finish_turn(connection, row, TurnStatus.FAILED, outcome)


async def finish_cancelled(connection: Connection, row: Row) -> bool:
    """End a locked turn as cancelled."""
    outcome = Outcome(type="cancellation", text=failure_text(row["locale"], "cancelled"))
    return await finish_turn(connection, row, TurnStatus.CANCELLED, outcome)


async def promote_queued(connection: Connection, conversation_id: UUID) -> UUID | None:
    """Make the oldest queued turn the active one; the caller has locked the conversation. Returns its id."""
    row = await (await connection.execute(PROMOTE_SQL, {"conversation": conversation_id})).fetchone()
    if row is None:
        return None
    await start_turn(connection, row)
    promoted: UUID = row["id"]
    return promoted


async def start_turn(connection: Connection, row: Row) -> None:
    """The message enters the transcript, and the first stage is announced. For a turn that just became active."""
    await append_message(connection, row["conversation_id"], row["id"], "user", row["message"])
    await append_events(
        connection, row["id"], [Event(EventType.RUN_ACCEPTED, {"conversation_id": str(row["conversation_id"])})]
    )
    await announce_stage(connection, row["tenant_id"], row["id"], 1, row["stage"])
