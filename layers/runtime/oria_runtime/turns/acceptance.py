"""A message becomes a turn: once per idempotency key, one active per conversation, queued or refused otherwise.

The conversation's row lock serialises everything that makes a turn active, so that a turn that ends and a turn that is
queued at the same moment cannot miss each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID, uuid4

from psycopg import errors
from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from oria_runtime.turns.assistants import Assistant, find_assistant
from oria_runtime.turns.cancellation import cancel_locked
from oria_runtime.turns.conversations import INSERT_CONVERSATION_SQL
from oria_runtime.turns.finish import promote_queued, start_turn
from oria_runtime.turns.models import Turn
from oria_runtime.turns.outbox import dispatch
from oria_runtime.turns.rows import Row, lock_turn, turn_from_row

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

# How many turns may wait behind the active one (DESIGN §2.4).
MOST_QUEUED = 5
# Dispatch, retries of the bus and the sweep, on top of the stages' own time.
TURN_SLACK_SECONDS = 120.0

LOCK_CONVERSATION_SQL = """
select id, assistant, head_checkpoint from conversations where id = %s and user_id = %s for update
"""
READ_REPEATED_SQL = "select * from turns where user_id = %s and idempotency_key = %s"
READ_ACTIVE_SQL = """
select t.*, i.id as interaction_id from turns t
left join interactions i on i.turn_id = t.id and i.status in ('pending', 'reserved')
where t.conversation_id = %s and t.status in ('accepted', 'running', 'awaiting_input')
"""
COUNT_QUEUED_SQL = "select count(*) as queued from turns where conversation_id = %s and status = 'queued'"
INSERT_TURN_SQL = """
insert into turns (id, tenant_id, conversation_id, user_id, assistant, status, message, locale, requested_agent,
    interactions, request, idempotency_key, request_hash, stage_map_hash, seq, stage, head_checkpoint, dispatched_at,
    dispatches, turn_seconds, deadline_at, sealed_context, sealed_expires_at)
values (%(id)s, %(tenant)s, %(conversation)s, %(user)s, %(assistant)s, %(status)s, %(message)s, %(locale)s, %(agent)s,
    %(interactions)s, %(request)s, %(key)s, %(hash)s, %(stage_map)s, %(seq)s, %(stage)s, %(head)s, now(), 1,
    %(seconds)s, now() + make_interval(secs => %(seconds)s), %(sealed)s, %(sealed_expires_at)s)
returning *
"""


@dataclass(frozen=True)
class TurnRequest:
    """What a person asks for. `conversation_id` None opens a conversation with `assistant` in the same transaction.

    `request` holds what the assistant's graph reads itself (attachments, confirmation, image). `turn_id` is given when
    a token was sealed for it.
    """

    user_id: str
    conversation_id: UUID | None
    message: str
    locale: str
    assistant: str | None = None
    agent: str | None = None
    interactions: bool = True
    idempotency_key: str | None = None
    request_hash: str | None = None
    on_conflict: Literal["reject", "enqueue", "interrupt"] = "reject"
    request: Mapping[str, Any] = field(default_factory=dict)
    sealed: bytes | None = None
    sealed_expires_at: datetime | None = None
    turn_id: UUID | None = None


@dataclass(frozen=True)
class Accepted:
    """The turn, and whether this request created it (False: a repeated idempotency key)."""

    turn: Turn
    created: bool


async def accept_turn(sandbox: "Sandbox", database: TenantDatabase, request: TurnRequest) -> Accepted:
    """Insert the turn and dispatch its first stage.

    Raises NotFoundError for an unknown or foreign conversation, ConflictError naming the turn (and interaction) in the
    way, InvalidRequestError when the key was used for another request or the agent is unknown to the assistant.
    """
    try:
        async with database.transaction() as connection:
            accepted, announced = await _accept(sandbox, connection, database.tenant_id, request)
    except errors.UniqueViolation:
        # Two requests with one key at once, in different conversations: the other one has committed.
        async with database.transaction() as connection:
            repeated = await _read_repeated(connection, request)
        if repeated is None:
            raise
        return repeated
    for turn_id in announced:
        await dispatch(sandbox, database.tenant_id, turn_id)
    return accepted


async def _accept(
    sandbox: "Sandbox", connection: Connection, tenant_id: UUID, request: TurnRequest
) -> tuple[Accepted, list[UUID]]:
    if (repeated := await _read_repeated(connection, request)) is not None:
        return repeated, []
    conversation = await _lock_conversation(connection, tenant_id, request)
    # A conversation opened here would stay behind empty; its turn's unique key finds the repetition instead.
    if request.conversation_id and (repeated := await _read_repeated(connection, request)) is not None:
        return repeated, []
    assistant = find_assistant(sandbox.registry, conversation["assistant"])
    active = await (await connection.execute(READ_ACTIVE_SQL, (conversation["id"],))).fetchone()
    if active is None:
        row = await _insert(connection, tenant_id, request, conversation, assistant, status="accepted")
        await start_turn(connection, row)
        return Accepted(turn_from_row(row), created=True), [row["id"]]
    await _check_queue(connection, request, active)
    row = await _insert(connection, tenant_id, request, conversation, assistant, status="queued")
    announced = [row["id"]]
    if request.on_conflict == "interrupt":
        await cancel_locked(connection, await lock_turn(connection, active["id"]) or active)
        announced.append(active["id"])
        row = await _read_turn(connection, row["id"])
    return Accepted(turn_from_row(row), created=True), announced


async def _read_repeated(connection: Connection, request: TurnRequest) -> Accepted | None:
    if request.idempotency_key is None:
        return None
    cursor = await connection.execute(READ_REPEATED_SQL, (request.user_id, request.idempotency_key))
    if (row := await cursor.fetchone()) is None:
        return None
    if row["request_hash"] != request.request_hash:
        raise InvalidRequestError("this Idempotency-Key was used for another request")
    return Accepted(turn_from_row(row), created=False)


async def _lock_conversation(connection: Connection, tenant_id: UUID, request: TurnRequest) -> Row:
    conversation_id = request.conversation_id
    if conversation_id is None:
        conversation_id = uuid4()
        arguments = (conversation_id, tenant_id, request.user_id, request.assistant, None)
        await connection.execute(INSERT_CONVERSATION_SQL, arguments)
    cursor = await connection.execute(LOCK_CONVERSATION_SQL, (conversation_id, request.user_id))
    if (row := await cursor.fetchone()) is None:
        raise NotFoundError("no such conversation")
    return row


async def _check_queue(connection: Connection, request: TurnRequest, active: Row) -> None:
    blocking = {"turn_id": str(active["id"])}
    if active["interaction_id"] is not None:
        blocking["interaction_id"] = str(active["interaction_id"])
    if request.on_conflict == "reject":
        raise ConflictError("a turn of this conversation is active", blocking)
    if request.on_conflict == "enqueue" and active["status"] == "awaiting_input":
        raise ConflictError("the active turn waits for answers; nothing is queued behind a pause", blocking)
    counted = await (await connection.execute(COUNT_QUEUED_SQL, (active["conversation_id"],))).fetchone()
    if counted is not None and counted["queued"] >= MOST_QUEUED:
        raise ConflictError(f"{MOST_QUEUED} turns are queued already", blocking)


async def _insert(
    connection: Connection,
    tenant_id: UUID,
    request: TurnRequest,
    conversation: Row,
    assistant: Assistant,
    *,
    status: str,
) -> Row:
    arguments = {
        "id": request.turn_id or uuid4(),
        "tenant": tenant_id,
        "conversation": conversation["id"],
        "user": request.user_id,
        "assistant": assistant.id,
        "status": status,
        "message": request.message,
        "locale": request.locale,
        "agent": request.agent,
        "interactions": request.interactions,
        "request": Jsonb(request.request),
        "key": request.idempotency_key,
        "hash": request.request_hash,
        "stage_map": assistant.stage_map_hash,
        "seq": 1 if status == "accepted" else 0,
        "stage": assistant.first_stage.name,
        "head": conversation["head_checkpoint"],
        "seconds": sum(stage.timeout for stage in assistant.stages) + TURN_SLACK_SECONDS,
        "sealed": request.sealed,
        "sealed_expires_at": request.sealed_expires_at,
    }
    row = await (await connection.execute(INSERT_TURN_SQL, arguments)).fetchone()
    if row is None:
        raise NotFoundError("the conversation is gone")
    return row


async def _read_turn(connection: Connection, turn_id: UUID) -> Row:
    row = await (await connection.execute("select * from turns where id = %s", (turn_id,))).fetchone()
    if row is None:
        raise NotFoundError("no such turn")
    return row


async def promote(sandbox: "Sandbox", database: TenantDatabase, turn_id: UUID) -> None:
    """Start the queued turn of a conversation that has no active one; the sweeper's safety net."""
    async with database.transaction() as connection:
        row = await lock_turn(connection, turn_id)
        promoted = await promote_queued(connection, row["conversation_id"]) if row else None
    if promoted is not None:
        await dispatch(sandbox, database.tenant_id, promoted)
