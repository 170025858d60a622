"""What a person thinks of an answer: given, changed, withdrawn, and given again.

One row for each message, of its conversation's owner. The row names turn and trace, so that an operator can join it
with what the tracing server has; nothing is sent there while the person waits.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import InvalidRequestError, NotFoundError
from oria_runtime.observability import count, name_trace

Rating = Literal["up", "down"]
Status = Literal["given", "changed", "withdrawn"]

# The conversation first, as everywhere: its deletion would wait for the message and hold what the feedback waits for.
READ_MESSAGE_SQL = """
select message.turn_id, message.role from conversations
join messages message on message.conversation_id = conversations.id
where message.id = %(message)s and message.tenant_id = %(tenant)s and conversations.user_id = %(user)s
for key share of conversations for key share of message
"""
# The same again changes nothing, not even the time.
GIVE_SQL = """
insert into feedback as feedback (message_id, tenant_id, turn_id, trace_id, user_id, status, rating, comment)
values (%(message)s, %(tenant)s, %(turn)s, %(trace)s, %(user)s, 'given', %(rating)s, %(comment)s)
on conflict (message_id) do update set rating = excluded.rating, comment = excluded.comment, updated_at = now(),
    status = case when feedback.status = 'withdrawn' then 'given' else 'changed' end
where (feedback.rating, feedback.comment) is distinct from (excluded.rating, excluded.comment)
returning status
"""
READ_SQL = "select * from feedback where message_id = %(message)s and tenant_id = %(tenant)s"
WITHDRAW_SQL = """
update feedback set status = 'withdrawn', rating = null, comment = null, updated_at = now()
where message_id = %(message)s and tenant_id = %(tenant)s and status <> 'withdrawn'
returning status
"""


@dataclass(frozen=True)
class Feedback:
    """The feedback on one answer. A withdrawn one has no rating."""

    message_id: UUID
    turn_id: UUID
    trace_id: str
    status: Status
    rating: Rating | None
    comment: str | None
    created_at: datetime
    updated_at: datetime


async def give_feedback(
    database: TenantDatabase, user_id: str, message_id: UUID, rating: Rating, comment: str | None
) -> Feedback:
    """Give or change it. Raises NotFoundError, and InvalidRequestError for a message of the person's own."""
    arguments = {"message": message_id, "tenant": database.tenant_id, "user": user_id}
    async with database.transaction() as connection:
        message = await (await connection.execute(READ_MESSAGE_SQL, arguments)).fetchone()
        if message is None:
            raise NotFoundError("There is no such message.")
        if message["role"] != "assistant":
            raise InvalidRequestError("Only the assistant's messages take feedback.")
        given = {"turn": message["turn_id"], "trace": name_trace(message["turn_id"])}
        values = arguments | given | {"rating": rating, "comment": comment}
        changed = await (await connection.execute(GIVE_SQL, values)).fetchone()
        row = await (await connection.execute(READ_SQL, arguments)).fetchone()
    if row is None:
        raise NotFoundError("There is no such message.")
    if changed is not None:
        count("feedback", status=changed["status"], rating=rating)
    return Feedback(**{name: row[name] for name in Feedback.__dataclass_fields__})


async def withdraw_feedback(database: TenantDatabase, user_id: str, message_id: UUID) -> None:
    """Take it back; what was not given, or withdrawn already, stays so. Raises NotFoundError."""
    arguments = {"message": message_id, "tenant": database.tenant_id, "user": user_id}
    async with database.transaction() as connection:
        if await (await connection.execute(READ_MESSAGE_SQL, arguments)).fetchone() is None:
            raise NotFoundError("There is no such message.")
        withdrawn = await (await connection.execute(WITHDRAW_SQL, arguments)).fetchone()
    if withdrawn is not None:
        count("feedback", status="withdrawn", rating="none")
