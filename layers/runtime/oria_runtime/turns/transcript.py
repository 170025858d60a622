"""The conversation as the person saw it: complete, ordered by position, and never cut (DESIGN §1)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_json, clean_text

APPEND_MESSAGE_SQL = """
with placed as (
    update conversations set message_count = message_count + 1, updated_at = now(),
        title = coalesce(title, case when %(role)s = 'user' then left(%(text)s, 80) end)
    where id = %(conversation)s returning message_count, tenant_id
)
insert into messages (id, tenant_id, conversation_id, turn_id, position, role, text, cards, sources)
select %(id)s, tenant_id, %(conversation)s, %(turn)s, message_count, %(role)s, %(text)s, %(cards)s, %(sources)s
from placed
"""


async def append_message(
    connection: Connection,
    conversation_id: UUID,
    turn_id: UUID,
    role: Literal["user", "assistant"],
    text: str,
    *,
    cards: Sequence[Mapping[str, Any]] = (),
    sources: Sequence[Mapping[str, str]] = (),
) -> UUID:
    """Append one message; returns its id."""
    message_id = uuid4()
    arguments = {
        "id": message_id,
        "conversation": conversation_id,
        "turn": turn_id,
        "role": role,
        "text": clean_text(text),
        "cards": Jsonb(clean_json(list(cards))),
        "sources": Jsonb(clean_json(list(sources))),
    }
    await connection.execute(APPEND_MESSAGE_SQL, arguments)
    return message_id
