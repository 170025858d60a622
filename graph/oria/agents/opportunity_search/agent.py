"""Opportunity Search: finds openings inside the company, by wish, profile or objective."""

from collections.abc import Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.get_objective_tool import FAILURE as OBJECTIVE_FAILURE
from graph.oria.tools.get_objective_tool import NAME as OBJECTIVE_TOOL
from graph.oria.tools.get_objective_tool import build_objective_tool
from graph.oria.tools.get_user_profile_selective_tool import build_profile_tool
from graph.oria.tools.search_opportunities_tool import NAME as SEARCH_TOOL
from graph.oria.tools.search_opportunities_tool import build_search_opportunities_tool
from graph.oria.tools.suggest_opportunities_based_on_objective_tool import build_objective_opportunities_tool

ID: Final = "opportunity_search"


def define() -> AgentDefinition:
    """The agent of the node `opportunity_search_agent`."""
    return AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        interrupting=frozenset({SEARCH_TOOL, OBJECTIVE_TOOL}),
        errors={OBJECTIVE_TOOL: OBJECTIVE_FAILURE},
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [
        build_search_opportunities_tool(request.profile),
        build_objective_opportunities_tool(request.profile),
        build_objective_tool(request.profile),
        build_profile_tool(request.profile),
    ]
