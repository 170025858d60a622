"""Training Finder: searches the catalogue and builds learning plans."""

from collections.abc import Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.get_trainings_tool import build_trainings_tool
from graph.oria.tools.training_finder_tool import NAME as FINDER_TOOL
from graph.oria.tools.training_finder_tool import build_training_finder_tool

ID: Final = "training_finder"


def define() -> AgentDefinition:
    """The agent of the node `training_finder_agent`."""
    return AgentDefinition(
        id=ID, prompts=read_prompts(ID), build_tools=build_tools, interrupting=frozenset({FINDER_TOOL})
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [build_training_finder_tool(request.profile), build_trainings_tool()]
