"""A stage, exactly once: claim, check, run, commit, send (DESIGN §2.1). Every stage function calls `run_stage`."""

import asyncio
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit

from oria_runtime import tracing
from oria_runtime.errors import ClaimLostError, NotClaimedError, OriaError, StageFailedError
from oria_runtime.models.usage import Usage
from oria_runtime.observability import count, describe, logger
from oria_runtime.turns.answers import accept_answers, answer_texts, reject_answers
from oria_runtime.turns.assistants import Assistant, Stage, find_assistant
from oria_runtime.turns.claim import Claim, StageEvent, claim_stage
from oria_runtime.turns.commit import End, Next, Pause, StageResult, commit_stage, lock_claimed
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.failures import decide_claimed
from oria_runtime.turns.graph_run import GraphStop, run_graph
from oria_runtime.turns.invocation import Invocation, end_process, marked_tasks, settle, start_marked
from oria_runtime.turns.lease import LeaseEnd, watch_lease
from oria_runtime.turns.outbox import dispatch
from oria_runtime.turns.progress_log import open_progress
from oria_runtime.turns.rows import add_usage
from oria_runtime.turns.saver import BufferingSaver
from oria_runtime.turns.stage_context import build_context

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox


async def run_stage(sandbox: "Sandbox", event: StageEvent, invocation: Invocation) -> dict[str, str]:
    """Run the stage that an event names, if it is still to be run; says how it ended.

    Raises NotClaimedError when the database did not answer before the claim: Lambda's failure record then has the
    stage dispatched again. After the claim nothing is raised: failures are decided here.
    """
    try:
        async with asyncio.timeout(invocation.remaining()):
            claim = await claim_stage(sandbox.database(event.tenant_id), event, invocation.request_id)
    except Exception as error:
        raise NotClaimedError("the stage could not be claimed") from error
    if claim is None:
        return {"result": "not_claimed"}
    logger.append_keys(conversation_id=str(claim.turn.conversation_id), assistant=claim.turn.assistant)
    started = time.monotonic()
    result = await _run_claimed(sandbox, claim, invocation)
    seconds = time.monotonic() - started
    count("stage_time", seconds * 1000, unit=MetricUnit.Milliseconds, stage=claim.stage, result=result)
    await dispatch(sandbox, event.tenant_id, event.turn_id)
    await tracing.flush(sandbox.environ, invocation.margin())
    return {"result": result}


async def _run_claimed(sandbox: "Sandbox", claim: Claim, invocation: Invocation) -> str:
    """Work, or decide what its failure means."""
    survivors = False
    usage = Usage()
    started, seconds = time.monotonic(), invocation.remaining()
    try:
        assistant = find_assistant(sandbox.registry, claim.turn.assistant)
        stage = _check(assistant, claim)
        seconds = min(seconds, _budget_left(stage, claim))
        context = build_context(sandbox, claim, now=datetime.now(UTC), seconds=seconds)
        usage = context.models.usage
        return await _under_lease(sandbox, claim, _work(sandbox, assistant, stage, claim, context), seconds)
    except ClaimLostError:
        code, retryable = "claim_lost", True
    except StageFailedError as error:
        survivors = error.code == "survived"
        code, retryable = error.code, error.retryable
        spent = {"elapsed": round(time.monotonic() - started, 3), "budget": round(seconds, 3)}
        logger.error("stage failed", extra={"code": code, **spent, **describe(error)})
    except Exception as error:  # noqa: BLE001 - whatever a node raises becomes a decision; its type and place are logged
        code = error.code if isinstance(error, OriaError) else "failed"
        retryable = getattr(error, "retryable", True)
        logger.error("stage raised", extra={"code": code, **describe(error)})
    finally:
        _count_usage(usage.as_json())
    decision = await decide_claimed(sandbox, claim, code, retryable=retryable, usage=usage.as_json())
    if survivors:
        end_process()
    return decision


def _check(assistant: Assistant, claim: Claim) -> Stage:
    """The stage as this deploy knows it. Raises StageFailedError when it is not the one the turn began with."""
    if claim.overdue:
        raise StageFailedError("deadline", "the stage event came after the turn's deadline")
    if claim.stage_map_hash != assistant.stage_map_hash:
        raise StageFailedError("graph_changed", "the assistant's stages changed while the turn was in flight")
    return assistant.stage(claim.stage)


def _budget_left(stage: Stage, claim: Claim) -> float:
    if stage.budget is None:
        return float("inf")
    return max(0.0, stage.budget - claim.budgets.get(stage.budget_name, 0.0))


async def _under_lease(sandbox: "Sandbox", claim: Claim, work: Coroutine[Any, Any, str], seconds: float) -> str:
    """Run the work beside the lease's watch; whichever ends first, nothing of either is left behind.

    Raises ClaimLostError when the lease ends, StageFailedError("deadline") when the seconds do, and
    StageFailedError("survived") when the work ignores its cancellation.
    """
    await sandbox.open()
    working = start_marked(work)
    watching = asyncio.create_task(watch_lease(sandbox.control(claim.turn.tenant_id), claim), name="lease")
    try:
        await asyncio.wait({working, watching}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finished, lease_ended = working.done(), watching.done()
    finally:
        if await settle(marked_tasks(working) | {working, watching}):
            raise StageFailedError("survived", "a task of the stage ignored its cancellation")
    if finished:
        return working.result()
    if not working.cancelled():
        # It reached its commit while it was being cancelled: a commit that came first stands.
        with suppress(asyncio.CancelledError):
            return working.result()
    if lease_ended:
        raise ClaimLostError("cancelled" if watching.result() is LeaseEnd.CANCELLED else "the lease is lost")
    raise StageFailedError("deadline", "the in-band deadline passed")


async def _work(sandbox: "Sandbox", assistant: Assistant, stage: Stage, claim: Claim, context: TurnContext) -> str:
    if claim.judges_answers:
        return await _judge(sandbox, assistant, claim, context)
    database = sandbox.database(claim.turn.tenant_id)
    saver = BufferingSaver(database, claim.turn.head_checkpoint, assistant.state_types)
    started = time.monotonic()
    async with open_progress(sandbox.control(claim.turn.tenant_id), claim) as progress:
        callbacks = tracing.callbacks(sandbox.environ, claim.turn.id)
        stop = await run_graph(assistant, claim, saver, context, add_event=progress.add, callbacks=callbacks)
    step = _step(assistant, claim, stop)
    spent = time.monotonic() - started
    budgets = {stage.budget_name: claim.budgets.get(stage.budget_name, 0.0) + spent} if stage.budget else {}
    usage = context.models.usage.as_json()
    await commit_stage(database, claim, saver, StageResult(step, assistant.read_agent(stop.values), usage, budgets))
    return type(step).__name__.lower()


def _step(assistant: Assistant, claim: Claim, stop: GraphStop) -> Next | Pause | End:
    """What the stop means. Anything ambiguous is a failure, never a guess."""
    if len(stop.interrupts) > 1:
        raise StageFailedError("ambiguous_pause", "the graph left more than one interrupt", retryable=False)
    if stop.interrupts:
        interrupt = stop.interrupts[0]
        return Pause(interrupt.id, interrupt.value, claim.tenant.config.interaction_expiry_seconds)
    following = {assistant.stage_of(node) for node in stop.next}
    if len(following) > 1 or None in following:
        raise StageFailedError("ambiguous_next", "the graph goes on in more than one stage", retryable=False)
    if following:
        (name,) = following
        assert name is not None  # noqa: S101 - checked above
        first = claim.stage == assistant.first_stage.name
        return Next(name, approved=first and assistant.remember is not None)
    outcome = assistant.read_outcome(stop.values)
    if outcome is None:
        raise StageFailedError("no_outcome", "the graph ended without an outcome")
    return End(outcome)


async def _judge(sandbox: "Sandbox", assistant: Assistant, claim: Claim, context: TurnContext) -> str:
    """Judge the texts of a response with the gate's own function, and commit the verdict."""
    interaction = claim.interaction
    if interaction is None:
        raise StageFailedError("interaction_changed", "no response is reserved")
    approval = await assistant.approve(answer_texts(interaction.response), context)
    async with sandbox.database(claim.turn.tenant_id).transaction() as connection:
        row = await lock_claimed(connection, claim)
        await add_usage(connection, claim.turn.id, context.models.usage.as_json())
        if approval.decision == "allow":
            await accept_answers(connection, row)
            return "answered"
        await reject_answers(connection, row, decision=approval.decision, text=approval.text)
        return "rejected"


def _count_usage(usage: Mapping[str, Mapping[str, float | None]]) -> None:
    for label, amounts in usage.items():
        for name in ("input_tokens", "output_tokens", "cost"):
            if amounts.get(name):
                count(f"model_{name}", amounts[name] or 0, task=label)
