"""The simulation's graph: gate, then the counterpart's reply or the assessment.

    START → simulation_gate ─┬─ block, doubt, finished → END
                             ├─ the role-play goes on → counterpart → END
                             └─ it ends → assessment → END

Role-play is conversation: nothing here pauses a turn with questions.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph

from graph.simulation.assessment import run_assessment
from graph.simulation.counterpart import run_counterpart
from graph.simulation.gate import run_gate
from graph.simulation.state import SimulationState
from oria_runtime.turns.context import TurnContext

GATE = "simulation_gate"
COUNTERPART = "counterpart"
ASSESSMENT = "assessment"


def build() -> StateGraph[SimulationState, TurnContext, Any, Any]:
    """The uncompiled graph; the stage runner compiles it with its own saver."""
    builder: StateGraph[SimulationState, TurnContext, Any, Any] = StateGraph(
        SimulationState, context_schema=TurnContext
    )
    builder.add_node(GATE, run_gate)
    builder.add_node(COUNTERPART, run_counterpart)
    builder.add_node(ASSESSMENT, run_assessment)
    builder.add_edge(START, GATE)
    builder.add_conditional_edges(GATE, route_after_gate, [END, COUNTERPART, ASSESSMENT])
    builder.add_edge(COUNTERPART, END)
    builder.add_edge(ASSESSMENT, END)
    return builder


def route_after_gate(state: SimulationState) -> str:
    """The next node; a turn that has its outcome already ends."""
    if state.get("outcome") is not None:
        return END
    return ASSESSMENT if state.get("ending") else COUNTERPART
