"""The one commit of a stage: checkpoints, turn row, transcript, events and outbox in one fenced transaction.

The fence is the first statement: the row must still carry this claim, and nobody may have asked to cancel. Everything
else travels in one pipeline, so a commit costs three round trips whatever it holds. A commit whose connection breaks is
tried once more; if the first try had reached the server, the fence fails and the head checkpoint tells that it is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.db.text import clean_json
from oria_runtime.errors import ClaimLostError
from oria_runtime.turns.answers import interaction_outcome, show_interaction
from oria_runtime.turns.claim import Claim
from oria_runtime.turns.dispatching import dispatch_next
from oria_runtime.turns.events import append_events
from oria_runtime.turns.finish import finish_turn
from oria_runtime.turns.models import Event, EventType, Outcome, TurnStatus
from oria_runtime.turns.outbox import append_outbox
from oria_runtime.turns.rows import LOCK_CONVERSATION_SQL, Row
from oria_runtime.turns.saver import BufferingSaver
from oria_runtime.turns.transcript import append_message

FENCE_SQL = """
select * from turns where id = %(turn)s and seq = %(seq)s and claim = %(claim)s and status = 'running'
    and not cancel_requested for update
"""
SAVE_STAGE_SQL = """
update turns set head_checkpoint = %(head)s, agent = coalesce(%(agent)s, agent), resume_stage = null,
    usage = merge_usage(usage, %(usage)s), budgets = budgets || %(budgets)s
where id = %(turn)s
"""
SAVE_HEAD_SQL = "update conversations set head_checkpoint = %(head)s where id = %(conversation)s"
PAUSE_TURN_SQL = """
update turns set status = 'awaiting_input', seq = seq + 1, stage = null, directive = null, resume_stage = %(stage)s,
    claim = null, claim_request_id = null, lease_expires_at = null, outcome = %(outcome)s, budgets = '{}',
    sealed_context = null, sealed_expires_at = null
where id = %(turn)s
"""
OPEN_INTERACTION_SQL = """
insert into interactions (id, tenant_id, turn_id, conversation_id, status, interrupt_id, questions, expires_at)
values (%(id)s, %(tenant)s, %(turn)s, %(conversation)s, 'pending', %(interrupt)s, %(questions)s,
    now() + make_interval(secs => %(seconds)s))
returning *
"""
# Only the head of a finished turn can be read again (DESIGN §2.3); the pause of an active one is never touched.
PRUNE_SQL = (
    "delete from checkpoints where thread_id = %(thread)s and (checkpoint_ns <> '' or checkpoint_id <> %(head)s)",
    "delete from checkpoint_writes where thread_id = %(thread)s and (checkpoint_ns <> '' or checkpoint_id <> %(head)s)",
    """
    delete from checkpoint_blobs b where thread_id = %(thread)s and (checkpoint_ns <> '' or not exists (
        select from checkpoints c where c.thread_id = %(thread)s and c.checkpoint_ns = ''
            and c.checkpoint_id = %(head)s and c.checkpoint -> 'channel_versions' ->> b.channel = b.version))
    """,
)
READ_HEAD_SQL = "select head_checkpoint from turns where id = %s and seq > %s"


@dataclass(frozen=True)
class Next:
    """Another stage goes on. `approved` is set after the first stage of a turn, for the memory branch."""

    stage: str
    approved: bool


@dataclass(frozen=True)
class Pause:
    """The graph asks the person; `value` is the interrupt's."""

    interrupt_id: str
    value: Mapping[str, Any]
    expiry_seconds: float


@dataclass(frozen=True)
class End:
    """The graph produced an outcome."""

    outcome: Outcome


@dataclass(frozen=True)
class StageResult:
    """What a stage commits."""

    step: Next | Pause | End
    agent: str | None
    usage: Mapping[str, Any]
    budgets: Mapping[str, float]


async def commit_stage(database: TenantDatabase, claim: Claim, saver: BufferingSaver, result: StageResult) -> None:
    """Commit, or raise ClaimLostError and leave no trace."""
    try:
        await _commit(database, claim, saver, result)
    except (psycopg.OperationalError, psycopg.InterfaceError):
        if not await _committed(database, claim, saver):
            await _commit(database, claim, saver, result)


async def _committed(database: TenantDatabase, claim: Claim, saver: BufferingSaver) -> bool:
    async with database.transaction() as connection:
        row = await (await connection.execute(READ_HEAD_SQL, (claim.turn.id, claim.seq))).fetchone()
    return row is not None and row["head_checkpoint"] == saver.head


async def _commit(database: TenantDatabase, claim: Claim, saver: BufferingSaver, result: StageResult) -> None:
    async with database.transaction() as connection:
        row = await lock_claimed(connection, claim)
        async with connection.pipeline():
            await saver.replay(connection)
            await _save(connection, claim, saver, result)
            match result.step:
                case Next(stage=stage, approved=approved):
                    await dispatch_next(connection, row, stage)
                    if approved:
                        await append_outbox(connection, row["tenant_id"], row["id"], "turn.approved")
                case Pause():
                    await _pause(connection, row, result.step)
                case End(outcome=outcome):
                    await _end(connection, row, saver, outcome)


async def lock_claimed(connection: Connection, claim: Claim) -> Row:
    """Lock conversation and turn under the fence, in one round trip.

    Raises ClaimLostError when the turn is not this claim's any more, or to be cancelled.
    """
    async with connection.pipeline():
        await connection.execute(LOCK_CONVERSATION_SQL, (claim.turn.id,))
        row = await (await connection.execute(FENCE_SQL, claim.fence)).fetchone()
    if row is None:
        raise ClaimLostError("the turn is no longer this worker's")
    return row


async def _save(connection: Connection, claim: Claim, saver: BufferingSaver, result: StageResult) -> None:
    arguments = {
        "turn": claim.turn.id,
        "conversation": claim.turn.conversation_id,
        "head": saver.head,
        "agent": result.agent,
        "usage": Jsonb(result.usage),
        "budgets": Jsonb(result.budgets),
    }
    await connection.execute(SAVE_STAGE_SQL, arguments)
    await connection.execute(SAVE_HEAD_SQL, arguments)


async def _pause(connection: Connection, row: Row, pause: Pause) -> None:
    interaction_id = UUID(pause.value["interaction_id"])
    questions = clean_json(pause.value["questions"])
    arguments = {
        "id": interaction_id,
        "tenant": row["tenant_id"],
        "turn": row["id"],
        "conversation": row["conversation_id"],
        "interrupt": pause.interrupt_id,
        "questions": Jsonb(questions),
        "seconds": pause.expiry_seconds,
    }
    opened = await (await connection.execute(OPEN_INTERACTION_SQL, arguments)).fetchone()
    assert opened is not None  # noqa: S101 - an insert that returns
    shown = show_interaction(opened)
    outcome = interaction_outcome(shown)
    await connection.execute(
        PAUSE_TURN_SQL, {"turn": row["id"], "stage": row["stage"], "outcome": Jsonb(outcome.as_json())}
    )
    await append_message(connection, row["conversation_id"], row["id"], "assistant", outcome.text)
    await append_events(connection, row["id"], [Event(EventType.INTERACTION_REQUESTED, {"interaction": shown})])
    await append_outbox(connection, row["tenant_id"], row["id"], "turn.interrupted", {"outcome": "interaction"})


async def _end(connection: Connection, row: Row, saver: BufferingSaver, outcome: Outcome) -> None:
    status = {"boundary": TurnStatus.BLOCKED, "failure": TurnStatus.FAILED}.get(outcome.type, TurnStatus.COMPLETED)
    if status is TurnStatus.COMPLETED:
        thread_id = f"{row['tenant_id']}:{row['conversation_id']}"
        for statement in PRUNE_SQL:
            await connection.execute(statement, {"thread": thread_id, "head": saver.head})
    await finish_turn(connection, row, status, outcome)
