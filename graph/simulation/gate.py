"""The first node of every turn: nothing plays or assesses before the message is approved here.

The gate also decides, by code, whether the role-play ends with this message.
"""

from typing import Any

from langgraph.runtime import Runtime

from graph.oria.approval import approve
from graph.oria.language import pick_text
from graph.simulation.budget import Ending, asks_to_end, find_ending
from graph.simulation.dialogue import Practice, read_practice
from graph.simulation.scenario import Scenario
from graph.simulation.state import SimulationState
from graph.simulation.texts import FINISHED
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome


async def run_gate(state: SimulationState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """Judge the turn's message, or answer without any model when the role-play is over.

    Raises StageFailedError when no decision can be had, or the conversation has no simulation.
    """
    context = runtime.context
    turn = context.turn
    update: dict[str, Any] = {"turn_id": str(turn.id), "decision": "allow", "ending": None, "outcome": None}
    if state.get("finished"):
        return update | {"outcome": Outcome("message", pick_text(FINISHED, turn.locale)).as_json()}
    practice = await read_practice(context)
    approval = await approve([turn.message], context, opening=describe_opening(practice.scenario))
    if approval.decision != "allow":
        outcome = Outcome("boundary", approval.text, decision=approval.decision)
        return update | {"decision": approval.decision, "outcome": outcome.as_json()}
    return update | {"ending": decide_ending(practice, context)}


def describe_opening(scenario: Scenario) -> str:
    """What the card told the person: a line of a role-play is judged as one."""
    return (
        f"Role-play to practise a conversation at work. {scenario.title}. {scenario.situation} {scenario.opening_line}"
    )


def decide_ending(practice: Practice, context: TurnContext) -> Ending | None:
    """Why the role-play ends with this message, or None: the person's wish first, then the budget."""
    if asks_to_end(context.turn.message, context.turn.request):
        return "person"
    return find_ending(practice.budget, exchanges=practice.exchanges, started_at=practice.started_at, now=context.now)
