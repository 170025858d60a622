"""Training Finder: searches the catalogue and builds learning plans."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest, run_specialist
from graph.oria.tools.get_trainings_tool import build_trainings_tool
from graph.oria.tools.training_finder_tool import NAME as FINDER_TOOL
from graph.oria.tools.training_finder_tool import build_training_finder_tool
from oria_runtime.turns.context import TurnContext

ID: Final = "training_finder"


async def run(state: Mapping[str, Any], runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node `training_finder_agent`."""
    definition = AgentDefinition(
        id=ID, prompts=read_prompts(ID), build_tools=build_tools, interrupting=frozenset({FINDER_TOOL})
    )
    return await run_specialist(definition, state, runtime)


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [build_training_finder_tool(request.profile), build_trainings_tool()]
