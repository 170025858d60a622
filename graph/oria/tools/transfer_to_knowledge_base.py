"""Hands a question about the company over to the Knowledge Base; another node answers it."""

from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool

from graph.middleware.handover import record_handover
from graph.middleware.tool_boundary import ToolResult
from graph.oria.tools.declaration import NoArguments, declare_tool
from oria_runtime.turns.context import TurnContext

NAME: Final = "transfer_to_knowledge_base"


def build_transfer_tool() -> BaseTool:
    """The tool; it only records the handover."""

    @declare_tool(NAME, NoArguments)
    async def transfer_to_knowledge_base(runtime: ToolRuntime[TurnContext]) -> ToolResult:
        """Have the company's own documents and pages searched for what the person asks.

        Call it when the answer needs a specific fact about the company or what it provides: a rule, a policy, a
        procedure, a benefit, a deadline, an internal tool or what one of its services can do. Not for reflection,
        coaching or general advice, not for what a profile or an uploaded document holds, and not because a profile is
        missing. Call it alone; it takes no arguments and can be called once for each message.
        """
        return record_handover(runtime.state["messages"], NAME, runtime.tool_call_id or "")

    return transfer_to_knowledge_base
