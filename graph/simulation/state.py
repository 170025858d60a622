"""The state of the simulation's graph: what a thread keeps between stages and turns. What was said is not in it."""

from typing import Any, TypedDict

from graph.oria.state import GateDecision
from graph.simulation.budget import Ending


class SimulationState(TypedDict, total=False):
    """Channels of the thread. A new thread has none of them yet, so read with a default.

    Kept over turns:
        finished: whether the role-play has been assessed; nothing is asked of a model after it.

    Per turn, written by the graph input or reset by the gate:
        turn_id: the turn at work.
        decision: what the gate decided.
        ending: why the role-play ends with this turn, None when it goes on.
        outcome: `Outcome.as_json()` of the turn once it has one.
    """

    finished: bool
    turn_id: str
    decision: GateDecision
    ending: Ending | None
    outcome: dict[str, Any] | None
