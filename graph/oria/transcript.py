"""What the gate knows of a conversation: the transcript as the person saw it, blocked messages included.

The thread's state would not do. It leaves out what was blocked, and an attempt continued in the next message would look
harmless (DESIGN 2.3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph.policy import GATE_EVIDENCE_TEXTS
from oria_runtime.turns.context import TurnContext

# The texts under judgement are stored already, and are not their own evidence.
SELECT_RECENT_TEXTS_SQL = """
    select role, text
    from messages
    where tenant_id = %(tenant)s and conversation_id = %(conversation)s and text ~ '\\S'
      and not (turn_id = %(turn)s and role = 'user' and text = any(%(texts)s))
    order by position desc
    limit %(limit)s
"""


@dataclass(frozen=True)
class Evidence:
    """The texts under judgement as one, and the texts before them, oldest first, as `{role, text}`."""

    latest: str
    recent: Sequence[dict[str, str]]

    def as_json(self) -> dict[str, Any]:
        return {"latest_user_message": self.latest, "recent_messages": list(self.recent)}


async def read_evidence(texts: Sequence[str], context: TurnContext, opening: str | None = None) -> Evidence:
    """The last nonempty human and assistant texts before `texts`; tools leave none in the transcript.

    `opening` stands first, as the assistant's: without it the first lines of a role-play have no context.
    """
    turn = context.turn
    parameters = {
        "tenant": context.database.tenant_id,
        "conversation": turn.conversation_id,
        "turn": turn.id,
        "texts": list(texts),
        "limit": GATE_EVIDENCE_TEXTS,
    }
    async with context.database.transaction() as connection:
        rows = await (await connection.execute(SELECT_RECENT_TEXTS_SQL, parameters)).fetchall()
    recent = [{"role": row["role"], "text": row["text"]} for row in reversed(rows)]
    if opening is not None:
        recent.insert(0, {"role": "assistant", "text": opening})
    return Evidence("\n\n".join(texts), recent)
