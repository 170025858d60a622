"""What becomes of a stage that failed: one set of decisions, whoever notices (DESIGN §2.2).

The worker itself decides when a node raises or the in-band deadline passes; `turn_failed` decides on Lambda's failure
record when the worker was killed; the sweeper decides when neither came. No decision touches a checkpoint.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oria_runtime.db.pool import Connection
from oria_runtime.errors import InvalidRequestError, NotClaimedError
from oria_runtime.observability import count, logger
from oria_runtime.turns.answers import reject_answers
from oria_runtime.turns.assistants import Registry
from oria_runtime.turns.claim import JUDGE_ANSWERS, Claim, StageEvent
from oria_runtime.turns.dispatching import MOST_DISPATCHES, dispatch_again, dispatch_next
from oria_runtime.turns.finish import fail_turn, finish_cancelled
from oria_runtime.turns.models import TurnStatus
from oria_runtime.turns.outbox import dispatch, send_outbox
from oria_runtime.turns.rows import Row, add_usage, lock_turn

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

KILLED = "Sandbox.Timedout"


@dataclass(frozen=True)
class FailureRecord:
    """Lambda's record of an asynchronous invocation that failed. `event` is None for the memory branch."""

    event: StageEvent | None
    request_id: str
    error_type: str
    condition: str

    @classmethod
    def from_destination(cls, record: Mapping[str, Any]) -> "FailureRecord":
        """Parse what an on-failure destination gets. Raises InvalidRequestError."""
        try:
            context, payload = record["requestContext"], record["requestPayload"]
            response = record.get("responsePayload") or {}
            is_stage = payload.get("detail-type") == "turn.stage"
            event = StageEvent.from_bus(payload) if is_stage else None
            kind = str(response.get("errorType", ""))
            killed = "Task timed out" in str(response.get("errorMessage", ""))
            return cls(event, context["requestId"], KILLED if killed else kind, context["condition"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidRequestError("not a failure record") from error


async def decide_failure(sandbox: "Sandbox", record: FailureRecord) -> dict[str, Any]:
    """Act on a failure record if the row is still where the record says. Returns what was decided."""
    if record.event is None:
        count("memory_failures", reason=record.error_type or record.condition)
        return {"decision": "none"}
    event = record.event
    if record.error_type == KILLED:
        count("deadline_kills", stage=event.stage)
    database = sandbox.database(event.tenant_id)
    async with database.transaction() as connection:
        row = await lock_turn(connection, event.turn_id)
        decision = "none" if row is None else await _decide_record(connection, sandbox.registry, row, record, event)
    await send_outbox(sandbox.publisher, database, event.turn_id)
    logger.info("failure decided", extra={"decision": decision, "error_type": record.error_type})
    return {"decision": decision}


async def _decide_record(
    connection: Connection, registry: Registry, row: Row, record: FailureRecord, event: StageEvent
) -> str:
    if TurnStatus(row["status"]).terminal or row["seq"] != event.seq or row["stage"] is None:
        return "sent"
    if row["claim"] is None:
        return await dispatch_unclaimed(connection, registry, row)
    if row["claim_request_id"] != record.request_id:
        return "none"
    if record.error_type == NotClaimedError.__name__:
        # The claim reached the database, its answer did not reach the worker: nothing ran.
        return await dispatch_unanswered(connection, registry, row)
    code = "deadline" if record.error_type == KILLED else "crashed"
    return await decide(connection, registry, row, code)


async def dispatch_unclaimed(connection: Connection, registry: Registry, row: Row) -> str:
    """A stage that nobody claimed: announce it again, at most three times, then decide."""
    if row["dispatches"] >= MOST_DISPATCHES:
        return await decide(connection, registry, row, "not_started")
    count("redispatches", stage=row["stage"])
    await dispatch_again(connection, row)
    return "redispatched"


async def dispatch_unanswered(connection: Connection, registry: Registry, row: Row) -> str:
    """A claim of which the worker never heard: the stage goes on under the next number, as often as any dispatch."""
    if row["dispatches"] >= MOST_DISPATCHES:
        return await decide(connection, registry, row, "not_started")
    count("redispatches", stage=row["stage"])
    await dispatch_next(connection, row, row["stage"], row["directive"], dispatches=row["dispatches"] + 1)
    return "redispatched"


async def decide(connection: Connection, registry: Registry, row: Row, code: str, *, retryable: bool = True) -> str:
    """Decide about a failed stage of a locked, active turn; says what was decided."""
    if row["cancel_requested"]:
        await finish_cancelled(connection, row)
        return "cancelled"
    if row["directive"] == JUDGE_ANSWERS:
        await reject_answers(connection, row, code=code)
        return "released"
    assistant = registry.get(row["assistant"])
    stages = assistant.stages if assistant else ()
    recovery = next((stage.recovery for stage in stages if stage.name == row["stage"]), None)
    if recovery is not None and row["directive"] != recovery:
        await dispatch_next(connection, row, row["stage"], recovery)
        return "recovered"
    unvetted = assistant is None or row["stage"] == assistant.first_stage.name
    text = "unvetted" if unvetted else "deadline" if code == "deadline" else "failed"
    await fail_turn(connection, row, code, text=text, retryable=retryable)
    return "failed"


async def decide_claimed(
    sandbox: "Sandbox", claim: Claim, code: str, *, retryable: bool, usage: Mapping[str, Any]
) -> str:
    """The worker's own decision about the stage it has claimed; "none" when somebody else decided first."""
    async with sandbox.database(claim.turn.tenant_id).transaction() as connection:
        row = await lock_turn(connection, claim.turn.id)
        if row is None or row["claim"] != claim.token:
            return "none"
        await add_usage(connection, claim.turn.id, usage)
        decision = await decide(connection, sandbox.registry, row, code, retryable=retryable)
    await dispatch(sandbox, claim.turn.tenant_id, claim.turn.id)
    return decision
