"""What becomes of the answers to an interaction: accepted and resumed, or rejected and pending again (DESIGN §2.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.turns.dispatching import dispatch_next
from oria_runtime.turns.events import append_events
from oria_runtime.turns.models import Event, EventType, Outcome
from oria_runtime.turns.rows import Row
from oria_runtime.turns.transcript import append_message

ACCEPT_SQL = """
update interactions set status = 'answered', answered_at = now() where turn_id = %s and status = 'reserved' returning *
"""
READ_RESERVED_SQL = "select * from interactions where turn_id = %s and status = 'reserved'"
RELEASE_SQL = "update interactions set status = 'pending', response = null, reserved_seq = null where id = %s"
AWAIT_AGAIN_SQL = """
update turns set status = 'awaiting_input', seq = seq + 1, stage = null, directive = null, claim = null,
    claim_request_id = null, lease_expires_at = null, sealed_context = null, sealed_expires_at = null,
    outcome = %(outcome)s
where id = %(turn)s
"""


def show_interaction(interaction: Row) -> dict[str, Any]:
    """An open interaction as clients see it."""
    expires_at = interaction["expires_at"].isoformat()
    return {"id": str(interaction["id"]), "questions": interaction["questions"], "expires_at": expires_at}


def interaction_outcome(shown: Mapping[str, Any]) -> Outcome:
    """What a paused turn has to show."""
    text = "\n".join(question["text"] for question in shown["questions"])
    return Outcome(type="interaction", text=text, interaction=shown)


def answer_texts(response: Mapping[str, Any]) -> list[str]:
    """The free texts of a response: what the safety gate must see before anything acts on it."""
    return [answer["text"] for answer in response["answers"] if answer.get("text")]


def describe_response(questions: Sequence[Mapping[str, Any]], response: Mapping[str, Any]) -> str:
    """The response as the transcript shows it: a line for each text or choice, a dash for a skip."""
    labels = {
        (question["id"], option["id"]): option["label"] for question in questions for option in question["options"]
    }
    lines = []
    for answer in response["answers"]:
        chosen = [labels[answer["question_id"], option] for option in answer.get("option_ids") or ()]
        lines.append(answer.get("text") or ", ".join(chosen) or "-")
    return "\n".join(lines)


async def accept_answers(connection: Connection, row: Row) -> None:
    """The reserved response stands: the stage that paused goes on with it."""
    interaction = await (await connection.execute(ACCEPT_SQL, (row["id"],))).fetchone()
    if interaction is None:
        return
    text = describe_response(interaction["questions"], interaction["response"])
    await append_message(connection, row["conversation_id"], row["id"], "user", text)
    await dispatch_next(connection, row, row["resume_stage"])


async def reject_answers(
    connection: Connection, row: Row, *, decision: str | None = None, text: str = "", code: str | None = None
) -> None:
    """The pause is pending again: for a boundary `decision` with its text, or for a retryable failure `code`."""
    interaction = await (await connection.execute(READ_RESERVED_SQL, (row["id"],))).fetchone()
    assert interaction is not None  # noqa: S101 - the directive to judge answers comes with a reserved response
    outcome = interaction_outcome(show_interaction(interaction))
    await connection.execute(AWAIT_AGAIN_SQL, {"turn": row["id"], "outcome": Jsonb(outcome.as_json())})
    await connection.execute(RELEASE_SQL, (interaction["id"],))
    if decision is not None:
        shown = describe_response(interaction["questions"], interaction["response"])
        await append_message(connection, row["conversation_id"], row["id"], "user", shown)
        await append_message(connection, row["conversation_id"], row["id"], "assistant", text)
    error = {"code": code, "retryable": True} if code else None
    data = {"interaction_id": str(interaction["id"]), "decision": decision, "text": text, "error": error}
    await append_events(connection, row["id"], [Event(EventType.INTERACTION_REJECTED, data)])
