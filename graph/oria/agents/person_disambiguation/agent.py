"""Person Look-up: settles which colleague is meant before something is done about that person."""

from collections.abc import Collection, Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.person_disambiguation_tool import NAME as PERSON_TOOL
from graph.oria.tools.person_disambiguation_tool import build_person_tool
from graph.oria.tools.suggest_simulation import NAME as SIMULATION_TOOL
from graph.oria.tools.suggest_simulation import build_simulation_tool

ID: Final = "person_disambiguation"


def define() -> AgentDefinition:
    """The agent of the node `person_disambiguation_agent`."""
    return AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        interrupting=frozenset({PERSON_TOOL, SIMULATION_TOOL}),
        hide=hide_unsettled,
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [build_person_tool(), build_simulation_tool(request.profile, request.selected_person)]


def hide_unsettled(request: AgentRequest) -> Collection[str]:
    """Nobody to practise with yet: once confirmed, the person goes back to the supervisor with the request."""
    return {SIMULATION_TOOL} if request.returns_person and request.selected_person is None else ()
