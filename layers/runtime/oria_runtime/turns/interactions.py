"""Responding to an interaction: `pending → reserved → answered | pending`, each a conditional UPDATE (DESIGN §2.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.errors import ConflictError, InvalidRequestError, NotFoundError, Violation
from oria_runtime.turns.answers import answer_texts, describe_response
from oria_runtime.turns.assistants import Assistant, find_assistant
from oria_runtime.turns.cancellation import cancel_locked
from oria_runtime.turns.claim import JUDGE_ANSWERS
from oria_runtime.turns.dispatching import announce_stage
from oria_runtime.turns.models import Answer, Option, Question, Turn, TurnStatus
from oria_runtime.turns.outbox import dispatch
from oria_runtime.turns.rows import Row, lock_turn, turn_from_row
from oria_runtime.turns.transcript import append_message

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

READ_INTERACTION_SQL = """
select i.* from interactions i join turns t on t.id = i.turn_id where i.id = %s and t.user_id = %s
"""
RESERVE_SQL = """
update interactions set status = %(status)s, response = %(response)s, reserved_seq = %(seq)s,
    answered_at = case when %(status)s = 'answered' then now() end
where id = %(id)s and status = 'pending' and expires_at > now() returning id
"""
RESUME_TURN_SQL = """
update turns set status = 'accepted', stage = %(stage)s, directive = %(directive)s, dispatched_at = now(),
    dispatches = 1, deadline_at = now() + make_interval(secs => turn_seconds), outcome = null,
    sealed_context = %(sealed)s, sealed_expires_at = %(sealed_expires_at)s
where id = %(turn)s
"""


@dataclass(frozen=True)
class Interaction:
    """An interaction as its owner sees it."""

    id: UUID
    turn_id: UUID
    questions: Sequence[Question]
    status: str
    expires_at: datetime


@dataclass(frozen=True)
class Response:
    """All questions answered (or skipped) at once, or the whole request cancelled."""

    answers: Sequence[Answer] = ()
    cancel: bool = False


async def read_interaction(database: TenantDatabase, user_id: str, interaction_id: UUID) -> Interaction:
    """Raises NotFoundError for an unknown or foreign one."""
    async with database.transaction() as connection:
        return _interaction(await _read(connection, user_id, interaction_id))


async def respond(
    sandbox: "Sandbox",
    database: TenantDatabase,
    user_id: str,
    interaction_id: UUID,
    response: Response,
    *,
    sealed: bytes | None = None,
    sealed_expires_at: datetime | None = None,
) -> Turn:
    """Answer or cancel a pending interaction; the turn goes on (or ends). Texts pass the safety gate first.

    Raises NotFoundError, InvalidRequestError with pointers when the answers do not fit the questions, ConflictError
    when the interaction is not pending any more. In both cases the pause is untouched.
    """
    async with database.transaction() as connection:
        found = await _read(connection, user_id, interaction_id)
        row = await lock_turn(connection, found["turn_id"])
        found = await _read(connection, user_id, interaction_id)
        _check_pending(found, row)
        assert row is not None  # noqa: S101 - an interaction has a turn
        if response.cancel:
            await cancel_locked(connection, row)
        else:
            answers = check_answers(_interaction(found).questions, response.answers)
            resumption = {"answers": answers, "sealed": sealed, "sealed_expires_at": sealed_expires_at}
            assistant = find_assistant(sandbox.registry, row["assistant"])
            await _resume(assistant, connection, row, found, resumption)
        turn = turn_from_row(await lock_turn(connection, row["id"]) or row)
    await dispatch(sandbox, database.tenant_id, turn.id)
    return turn


async def _read(connection: Connection, user_id: str, interaction_id: UUID) -> Row:
    row = await (await connection.execute(READ_INTERACTION_SQL, (interaction_id, user_id))).fetchone()
    if row is None:
        raise NotFoundError("no such interaction")
    return row


def _check_pending(found: Row, row: Row | None) -> None:
    if found["status"] == "pending" and found["expires_at"] <= datetime.now(UTC):
        raise ConflictError("the interaction has expired", {"turn_id": str(found["turn_id"])})
    if found["status"] != "pending" or row is None or row["status"] != TurnStatus.AWAITING_INPUT:
        raise ConflictError(f"the interaction is {found['status']}", {"turn_id": str(found["turn_id"])})


async def _resume(
    assistant: Assistant, connection: Connection, row: Row, found: Row, resumption: Mapping[str, Any]
) -> None:
    """Texts go to the first stage to be judged; options and skips need no model and go straight on."""
    response = {"answers": resumption["answers"]}
    judged = bool(answer_texts(response))
    stage = assistant.first_stage.name if judged else row["resume_stage"]
    status = "reserved" if judged else "answered"
    arguments = {"id": found["id"], "status": status, "response": Jsonb(response), "seq": row["seq"]}
    if await (await connection.execute(RESERVE_SQL, arguments)).fetchone() is None:
        raise ConflictError("the interaction has expired", {"turn_id": str(row["id"])})
    directive = JUDGE_ANSWERS if judged else None
    await connection.execute(RESUME_TURN_SQL, {"turn": row["id"], "stage": stage, "directive": directive, **resumption})
    if not judged:
        text = describe_response(found["questions"], response)
        await append_message(connection, row["conversation_id"], row["id"], "user", text)
    await announce_stage(connection, row["tenant_id"], row["id"], row["seq"], stage)


def check_answers(questions: Sequence[Question], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The answers as stored, in the questions' order. Raises InvalidRequestError naming every misfit."""
    by_id: dict[str, tuple[int, Answer]] = {}
    violations = []
    known = {question.id: question for question in questions}
    for index, answer in enumerate(answers):
        if answer.question_id not in known:
            violations.append(Violation(f"/answers/{index}/question_id", "not a question of this interaction"))
        elif answer.question_id in by_id:
            violations.append(Violation(f"/answers/{index}/question_id", "answered twice"))
        elif problem := find_problem(known[answer.question_id], answer):
            violations.append(Violation(f"/answers/{index}", problem))
        by_id.setdefault(answer.question_id, (index, answer))
    missing = [question.id for question in questions if question.id not in by_id]
    violations += [Violation("/answers", f"question {question_id} is not answered") for question_id in missing]
    if violations:
        raise InvalidRequestError("the answers do not fit the questions", violations)
    return [_stored(by_id[question.id][1]) for question in questions]


def find_problem(question: Question, answer: Answer) -> str | None:
    """What is wrong with an answer to a question, or None."""
    kinds = [answer.text is not None, answer.option_ids is not None, answer.skip]
    if sum(kinds) != 1:
        return "give exactly one of text, option_ids and skip"
    if answer.skip:
        return None
    if answer.text is not None:
        takes_text = question.input_type == "text" or question.allow_free_text
        return (None if answer.text.strip() else "the text is empty") if takes_text else "choose by option_ids"
    return _find_option_problem(question, answer.option_ids or ())


def _find_option_problem(question: Question, chosen: Sequence[str]) -> str | None:
    if question.input_type == "text":
        return "answer with a text"
    if not set(chosen) <= {option.id for option in question.options}:
        return "an option id is not offered"
    if len(set(chosen)) != len(chosen) or not chosen:
        return "choose at least one option, each once"
    if question.input_type == "single_select" and len(chosen) != 1:
        return "choose exactly one option"
    return None


def _stored(answer: Answer) -> dict[str, Any]:
    if answer.skip:
        return {"question_id": answer.question_id, "skip": True}
    if answer.text is not None:
        return {"question_id": answer.question_id, "text": answer.text}
    return {"question_id": answer.question_id, "option_ids": list(answer.option_ids or ())}


def _interaction(row: Row) -> Interaction:
    questions = [
        Question(**question | {"options": [Option(**option) for option in question["options"]]})
        for question in row["questions"]
    ]
    return Interaction(row["id"], row["turn_id"], questions, row["status"], row["expires_at"])
