"""Opportunity Search: finds openings inside the company, by wish, profile or objective."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest, run_specialist
from graph.oria.tools.get_objective_tool import FAILURE as OBJECTIVE_FAILURE
from graph.oria.tools.get_objective_tool import NAME as OBJECTIVE_TOOL
from graph.oria.tools.get_objective_tool import build_objective_tool
from graph.oria.tools.get_user_profile_selective_tool import build_profile_tool
from graph.oria.tools.search_opportunities_tool import NAME as SEARCH_TOOL
from graph.oria.tools.search_opportunities_tool import build_search_opportunities_tool
from graph.oria.tools.suggest_opportunities_based_on_objective_tool import build_objective_opportunities_tool
from oria_runtime.turns.context import TurnContext

ID: Final = "opportunity_search"


async def run(state: Mapping[str, Any], runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node `opportunity_search_agent`."""
    definition = AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        interrupting=frozenset({SEARCH_TOOL, OBJECTIVE_TOOL}),
        errors={OBJECTIVE_TOOL: OBJECTIVE_FAILURE},
    )
    return await run_specialist(definition, state, runtime)


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [
        build_search_opportunities_tool(request.profile),
        build_objective_opportunities_tool(request.profile),
        build_objective_tool(request.profile),
        build_profile_tool(request.profile),
    ]
