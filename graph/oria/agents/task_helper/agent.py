"""Task Helper: guidance for one concrete work task."""

from collections.abc import Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.get_document_content_tool import build_document_tool
from graph.oria.tools.task_helper_tool import FAILURE, build_task_helper_tool
from graph.oria.tools.task_helper_tool import NAME as HELPER_TOOL

ID: Final = "task_helper"


def define() -> AgentDefinition:
    """The agent of the node `task_helper_agent`."""
    return AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        errors={HELPER_TOOL: FAILURE},
        reads_documents=True,
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [build_task_helper_tool(request.profile), build_document_tool()]
