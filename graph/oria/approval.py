"""The safety decision: before anything model-driven reads a text, and again on every answer to an interaction.

Order of outcomes: unavailable stops the turn; then block; then doubt; then allow (DESIGN 9). One deadline covers the
reading of the evidence, the decision and the boundary text.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

from graph.oria.boundary import write_boundary
from graph.oria.prompts import read_prompt, read_sections
from graph.oria.state import GateDecision
from graph.oria.transcript import Evidence, read_evidence
from graph.policy import GATE_SECONDS
from oria_runtime.errors import StageFailedError
from oria_runtime.models.client import Models
from oria_runtime.models.errors import DecisionUnavailableError, ModelError
from oria_runtime.turns.assistants import Approval
from oria_runtime.turns.context import TurnContext

DECISION_LABEL = "langgraph.guardrails_decision"
DECISION_NAME = "guardrail_decision"
UNAVAILABLE_CODE = "safety_unavailable"
# The same texts will not be judged on a second try either.
FINAL_REASONS = frozenset({"refusal", "rejected"})


async def approve(texts: Sequence[str], context: TurnContext, *, opening: str | None = None) -> Approval:
    """Judge `texts` as one message of the person, with the transcript before them as evidence.

    `opening` is what the person read before the transcript began, such as the scenario of a role-play.

    Raises StageFailedError(`safety_unavailable`) when no decision, or no boundary text, can be had in time: nothing is
    approved by default. Without any text (answers that only pick or skip) there is nothing to judge.
    """
    if not any(text.strip() for text in texts):
        return Approval("allow")
    loop = asyncio.get_running_loop()
    deadline = min(loop.time() + GATE_SECONDS, context.deadline)
    async with _gate_deadline(deadline):
        evidence = await read_evidence(texts, context, opening)
        decision = await decide(evidence, context.models, seconds=deadline - loop.time())
        if decision == "allow":
            return Approval("allow")
        return Approval(decision, await write_boundary(decision, evidence, context.turn.locale, context.models))


async def decide(evidence: Evidence, models: Models, seconds: float) -> GateDecision:
    """Allow, doubt or block. Confidence plays no part. Raises DecisionUnavailableError."""
    decision = await models.choose(
        label=DECISION_LABEL,
        name=DECISION_NAME,
        instructions=read_prompt("guardrail_decision"),
        choices=read_sections("guardrail_decision"),
        evidence=evidence.as_json(),
        timeout=seconds,
    )
    return cast("GateDecision", decision)


@asynccontextmanager
async def _gate_deadline(deadline: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except TimeoutError as error:
        raise StageFailedError(UNAVAILABLE_CODE, "the safety check did not finish in time") from error
    except DecisionUnavailableError as error:
        retryable = error.reason not in FINAL_REASONS
        raise StageFailedError(UNAVAILABLE_CODE, error.detail, retryable=retryable) from error
    except ModelError as error:
        raise StageFailedError(UNAVAILABLE_CODE, error.detail, retryable=error.retryable) from error
