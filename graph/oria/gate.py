"""The first node of every turn: nothing reads the person's message before it is approved here."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from graph.oria.approval import approve
from graph.oria.availability import find_enabled
from graph.oria.language import pick_text
from graph.oria.state import OriaState
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.assistants import Approval
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome, Turn

UNANSWERED_TEXTS: Mapping[str, str] = {
    "en": "(This request was not answered.)",
    "fr": "(Cette demande est restée sans réponse.)",
    "es": "(Esta petición quedó sin respuesta.)",
}


async def run_gate(state: OriaState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """Judge the turn's message, which is in the turn row only, and write it into the thread unless it is blocked.

    The update also resets the channels that belong to one turn. Raises StageFailedError when the named agent is not
    to be had (before any model call) or no decision is.
    """
    context = runtime.context
    turn = context.turn
    require_agent(context)
    approval = await approve([turn.message], context)
    return start_turn(turn, approval) | {"messages": list_messages(state.get("messages", []), turn, approval)}


def require_agent(context: TurnContext) -> None:
    """Raises StageFailedError(`agent_unavailable`) when the caller named an agent that the tenant does not have."""
    requested = context.turn.requested_agent
    if requested is not None and find_enabled(context.tenant.config, requested) is None:
        raise StageFailedError("agent_unavailable", f"the agent {requested} is not available", retryable=False)


def start_turn(turn: Turn, approval: Approval) -> dict[str, Any]:
    """The per-turn channels after the gate; the caller's agent is at work at once, the supervisor's only later."""
    update: dict[str, Any] = {
        "turn_id": str(turn.id),
        "requested_agent": turn.requested_agent,
        "decision": approval.decision,
        "agent": None,
        "returned": False,
        "returning": False,
        "handover": None,
        "handed_over": False,
        "research": None,
        "shown_cards": [],
        "outcome": None,
    }
    if approval.decision != "allow":
        return update | {"outcome": Outcome("boundary", approval.text, decision=approval.decision).as_json()}
    if turn.requested_agent is not None:
        return update | {"agent": turn.requested_agent, "active_agent": turn.requested_agent}
    return update


def list_messages(history: Sequence[AnyMessage], turn: Turn, approval: Approval) -> list[AnyMessage]:
    """What the gate adds to the window: nothing of a blocked message, not even its refusal, which may repeat it."""
    if approval.decision == "block":
        return []
    messages: list[AnyMessage] = [*close_unanswered(history, turn), HumanMessage(turn.message, id=str(turn.id))]
    if approval.decision == "doubt":
        messages.append(AIMessage(approval.text, id=f"{turn.id}:boundary"))
    return messages


def close_unanswered(history: Sequence[AnyMessage], turn: Turn) -> list[AnyMessage]:
    """An answer to the last message if it has none (its turn failed or was cancelled): roles must alternate.

    The last one is a result where a person was confirmed and what came after it failed.
    """
    if not history or isinstance(history[-1], AIMessage) or history[-1].id == str(turn.id):
        return []
    return [AIMessage(pick_text(UNANSWERED_TEXTS, turn.locale), id=f"{history[-1].id}:unanswered")]
