"""Talent Finder: finds people in the company by what they can do and where they are."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest, run_specialist
from graph.oria.tools.map_skills_tool import build_map_skills_tool
from graph.oria.tools.talent_finder_tool import NAME as FINDER_TOOL
from graph.oria.tools.talent_finder_tool import build_talent_finder_tool
from oria_runtime.turns.context import TurnContext

ID: Final = "talent_finder"


async def run(state: Mapping[str, Any], runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """The node `talent_finder_agent`."""
    definition = AgentDefinition(
        id=ID, prompts=read_prompts(ID), build_tools=build_tools, interrupting=frozenset({FINDER_TOOL})
    )
    return await run_specialist(definition, state, runtime)


def build_tools(_: AgentRequest) -> Sequence[BaseTool]:
    return [build_talent_finder_tool(), build_map_skills_tool()]
