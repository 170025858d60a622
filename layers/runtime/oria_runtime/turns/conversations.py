"""Conversations and their transcripts, as their owner sees them. Unknown and foreign look the same."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID, uuid4

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import InvalidRequestError, NotFoundError, Violation
from oria_runtime.turns.rows import Row

Item = TypeVar("Item")

INSERT_CONVERSATION_SQL = """
insert into conversations (id, tenant_id, user_id, assistant, locale) values (%s, %s, %s, %s, %s)
returning *, null::jsonb as simulation
"""
CONVERSATION_SQL = """
select c.*, c.start -> 'card' as simulation, t.id as active_turn_id from conversations c
left join turns t on t.conversation_id = c.id and t.status in ('accepted', 'running', 'awaiting_input')
"""
READ_CONVERSATION_SQL = CONVERSATION_SQL + "where c.id = %s and c.user_id = %s"
LIST_CONVERSATIONS_SQL = (
    CONVERSATION_SQL
    + """
where c.tenant_id = %(tenant)s and c.user_id = %(user)s
    and (%(at)s::timestamptz is null or (c.updated_at, c.id) < (%(at)s, %(id)s))
order by c.updated_at desc, c.id desc limit %(limit)s
"""
)
LIST_MESSAGES_SQL = """
select m.*,
    case when f.rating is not null then jsonb_build_object('rating', f.rating, 'comment', f.comment) end as feedback
from messages m left join feedback f on f.message_id = m.id
where m.conversation_id = %s and m.position > %s order by m.position limit %s
"""
LOCK_CONVERSATION_SQL = "select id from conversations where id = %s and user_id = %s for update"
# Vendor tables know the conversation by its thread only.
DELETE_THREAD_SQL = (
    "delete from checkpoints where thread_id = %s",
    "delete from checkpoint_blobs where thread_id = %s",
    "delete from checkpoint_writes where thread_id = %s",
)
DELETE_CONVERSATION_SQL = "delete from conversations where id = %s"


@dataclass(frozen=True)
class Conversation:
    """One person's thread with one assistant. `simulation` is the card of the simulation that it was started with."""

    id: UUID
    assistant: str
    locale: str | None
    title: str | None
    created_at: datetime
    updated_at: datetime
    active_turn_id: UUID | None
    simulation: Mapping[str, Any] | None


@dataclass(frozen=True)
class Message:
    """One entry of the transcript. `feedback` is the person's own, `{rating, comment}`."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    cards: Sequence[Mapping[str, Any]]
    sources: Sequence[Mapping[str, str]]
    turn_id: UUID
    at: datetime
    position: int
    feedback: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Part of a list; `next_cursor` is None on the last page."""

    items: Sequence[Item]
    next_cursor: str | None


async def create_conversation(
    database: TenantDatabase, user_id: str, assistant: str, locale: str | None = None
) -> Conversation:
    """Open a conversation; the caller has checked that the assistant exists."""
    async with database.transaction() as connection:
        arguments = (uuid4(), database.tenant_id, user_id, assistant, locale)
        row = await (await connection.execute(INSERT_CONVERSATION_SQL, arguments)).fetchone()
    if row is None:
        raise NotFoundError("the tenant is gone")
    return conversation_from_row({**row, "active_turn_id": None})


async def read_conversation(database: TenantDatabase, user_id: str, conversation_id: UUID) -> Conversation:
    """Raises NotFoundError."""
    async with database.transaction() as connection:
        row = await (await connection.execute(READ_CONVERSATION_SQL, (conversation_id, user_id))).fetchone()
    if row is None:
        raise NotFoundError("no such conversation")
    return conversation_from_row(row)


async def list_conversations(
    database: TenantDatabase, user_id: str, *, limit: int, before: str | None = None
) -> Page[Conversation]:
    """Latest first. Raises InvalidRequestError for a cursor that is not ours."""
    at, last = _read_cursor(before) if before else (None, None)
    arguments = {"tenant": database.tenant_id, "user": user_id, "at": at, "id": last, "limit": limit + 1}
    async with database.transaction() as connection:
        rows = await (await connection.execute(LIST_CONVERSATIONS_SQL, arguments)).fetchall()
    items = [conversation_from_row(row) for row in rows[:limit]]
    more = len(rows) > limit
    return Page(items, _write_cursor(items[-1]) if more and items else None)


async def list_messages(
    database: TenantDatabase, user_id: str, conversation_id: UUID, *, limit: int, after: int = 0
) -> Page[Message]:
    """The transcript from the message after position `after`. Raises NotFoundError."""
    await read_conversation(database, user_id, conversation_id)
    async with database.transaction() as connection:
        cursor = await connection.execute(LIST_MESSAGES_SQL, (conversation_id, after, limit + 1))
        rows = await cursor.fetchall()
    items = [Message(**{name: row[name] for name in Message.__dataclass_fields__}) for row in rows[:limit]]
    return Page(items, str(items[-1].position) if len(rows) > limit else None)


async def delete_conversation(database: TenantDatabase, user_id: str, conversation_id: UUID) -> None:
    """Delete thread, turns, events and transcript; a stage at work loses its claim with the row.

    Raises NotFoundError.
    """
    async with database.transaction() as connection:
        cursor = await connection.execute(LOCK_CONVERSATION_SQL, (conversation_id, user_id))
        if await cursor.fetchone() is None:
            raise NotFoundError("no such conversation")
        thread_id = f"{database.tenant_id}:{conversation_id}"
        # The row first: a stage that commits now waits for it, finds no turn and drops its buffer.
        await connection.execute(DELETE_CONVERSATION_SQL, (conversation_id,))
        for statement in DELETE_THREAD_SQL:
            await connection.execute(statement, (thread_id,))


def conversation_from_row(row: Row) -> Conversation:
    """A conversation from any row that has its columns."""
    return Conversation(**{name: row[name] for name in Conversation.__dataclass_fields__})


def _write_cursor(last: Conversation) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.updated_at.isoformat(), str(last.id)]).encode()).decode()


def _read_cursor(cursor: str) -> tuple[datetime, UUID]:
    try:
        at, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return datetime.fromisoformat(at), UUID(last)
    except (ValueError, TypeError, AttributeError, binascii.Error, UnicodeError) as error:
        violation = Violation("/query/before", "not a cursor of this list")
        raise InvalidRequestError("the cursor is not valid", [violation]) from error
