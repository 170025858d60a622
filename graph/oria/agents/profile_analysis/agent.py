"""Profile Analysis: the person's own profile as a card, and its action plan worked out afterwards."""

from collections.abc import Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.availability import list_enabled
from graph.oria.tools.display_user_profile_tool import FAILURE, build_analysis_tool
from graph.oria.tools.display_user_profile_tool import NAME as ANALYSIS_TOOL
from graph.oria.tools.get_document_content_tool import build_document_tool
from graph.oria.tools.get_jobs_tool import build_jobs_tool
from graph.oria.tools.get_user_profile_selective_tool import build_profile_tool
from graph.oria.tools.map_skills_tool import build_map_skills_tool

ID: Final = "profile_analysis"


def define() -> AgentDefinition:
    """The agent of the node `profile_analysis_agent`."""
    return AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        notes=write_notes,
        errors={ANALYSIS_TOOL: FAILURE},
        reads_documents=True,
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [
        build_analysis_tool(request.profile),
        build_profile_tool(request.profile),
        build_document_tool(),
        build_jobs_tool(),
        build_map_skills_tool(),
    ]


def write_notes(request: AgentRequest) -> Sequence[str]:
    others = [agent.name for agent in list_enabled(request.context.tenant.config) if agent.id != ID]
    return [f"Other services that the person can ask for: {', '.join(others) or 'none'}."]
