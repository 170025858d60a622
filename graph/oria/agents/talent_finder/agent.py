"""Talent Finder: finds people in the company by what they can do and where they are."""

from collections.abc import Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.map_skills_tool import build_map_skills_tool
from graph.oria.tools.talent_finder_tool import NAME as FINDER_TOOL
from graph.oria.tools.talent_finder_tool import build_talent_finder_tool

ID: Final = "talent_finder"


def define() -> AgentDefinition:
    """The agent of the node `talent_finder_agent`."""
    return AgentDefinition(
        id=ID, prompts=read_prompts(ID), build_tools=build_tools, interrupting=frozenset({FINDER_TOOL})
    )


def build_tools(_: AgentRequest) -> Sequence[BaseTool]:
    return [build_talent_finder_tool(), build_map_skills_tool()]
