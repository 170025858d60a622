"""Task Helper: guidance for one concrete work task."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest, run_specialist
from graph.oria.tools.task_helper_tool import FAILURE, build_task_helper_tool
from graph.oria.tools.task_helper_tool import NAME as HELPER_TOOL
from oria_runtime.turns.context import TurnContext

ID: Final = "task_helper"


async def run(state: Mapping[str, Any], runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node `task_helper_agent`."""
    definition = AgentDefinition(
        id=ID, prompts=read_prompts(ID), build_tools=build_tools, errors={HELPER_TOOL: FAILURE}
    )
    return await run_specialist(definition, state, runtime)


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [build_task_helper_tool(request.profile)]
