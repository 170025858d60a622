"""Stands where the stage workers would be: what they commit, by the engine's own functions."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.events import append_events
from oria_runtime.turns.finish import fail_turn, finish_turn
from oria_runtime.turns.models import Event, EventType, Option, Outcome, Question, TurnStatus
from oria_runtime.turns.rows import Row, lock_turn

QUESTIONS = (
    Question("level", "Which level?", "single_select", (Option("beginner", "Beginner"), Option("expert", "Expert"))),
    Question("goal", "Which goal?"),
)


async def lock(connection: Any, turn_id: UUID | str) -> Row:
    row = await lock_turn(connection, UUID(str(turn_id)))
    assert row is not None
    return row


async def complete(database: TenantDatabase, turn_id: UUID | str, text: str = "Done.") -> None:
    """End a turn with a message."""
    async with database.transaction() as connection:
        await finish_turn(connection, await lock(connection, turn_id), TurnStatus.COMPLETED, Outcome("message", text))


async def block(database: TenantDatabase, turn_id: UUID | str) -> None:
    """End a turn at the gate."""
    outcome = Outcome("boundary", "Not that.", decision="block")
    async with database.transaction() as connection:
        await finish_turn(connection, await lock(connection, turn_id), TurnStatus.BLOCKED, outcome)


async def fail(database: TenantDatabase, turn_id: UUID | str) -> None:
    """End a turn by a fault."""
    async with database.transaction() as connection:
        await fail_turn(connection, await lock(connection, turn_id), "deadline")


async def emit(database: TenantDatabase, turn_id: UUID | str, *texts: str) -> None:
    """Stream pieces of an answer."""
    events = [Event(EventType.MESSAGE_DELTA, {"text": text}) for text in texts]
    async with database.transaction() as connection:
        await lock(connection, turn_id)
        await append_events(connection, UUID(str(turn_id)), events)


async def pause(database: TenantDatabase, turn_id: UUID | str, questions: Sequence[Question] = QUESTIONS) -> str:
    """Pause a turn with questions; returns the interaction's id."""
    interaction_id = uuid4()
    shown = {"id": str(interaction_id), "questions": [question.as_json() for question in questions], "expires_at": None}
    outcome = Outcome("interaction", "Which level?", interaction=shown)
    async with database.transaction() as connection:
        row = await lock(connection, turn_id)
        await connection.execute(
            "update turns set status = 'awaiting_input', resume_stage = 'specialist', outcome = %s where id = %s",
            (Jsonb(outcome.as_json()), row["id"]),
        )
        await connection.execute(
            "insert into interactions (id, tenant_id, turn_id, conversation_id, questions, status, interrupt_id,"
            " expires_at) values (%s, %s, %s, %s, %s, 'pending', 'interrupt', now() + interval '1 day')",
            (interaction_id, row["tenant_id"], row["id"], row["conversation_id"], Jsonb(shown["questions"])),
        )
        await append_events(connection, row["id"], [Event(EventType.INTERACTION_REQUESTED, {"interaction": shown})])
    return str(interaction_id)
