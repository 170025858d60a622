"""The research loop: a bounded agent that searches and reads. What it says is dropped; what it read is the result.

LangChain's own agent is enough: three model turns and two tools. The `deepagents` package would add 36 MB, and its
files, plans and subagents have no use here.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelCallLimitMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import BaseTool

from graph.middleware.activity import ToolResult, read_status
from graph.middleware.delivery import keep_calls, read_action
from graph.middleware.turns import list_calls
from graph.oria.agents import KNOWLEDGE_BASE
from graph.oria.agents.knowledge_base.activity import comment
from graph.oria.agents.prompting import read_text
from graph.oria.agents.specialist_run import exclude_tools
from graph.oria.channel_tools import narrow_tools
from graph.oria.tools.knowledge.research import Research
from graph.oria.tools.read_knowledge_page import build_page_tool
from graph.oria.tools.search_knowledge_sources import build_search_tool
from graph.oria.untrusted import untrusted_content_policy
from graph.policy import KNOWLEDGE_MODEL_CALLS
from oria_runtime.models.prompts import write_prompt
from oria_runtime.tenancy.tenants import AgentConfig
from oria_runtime.turns.context import TurnContext


class ResearchMiddleware(AgentMiddleware[AgentState[Any], TurnContext, Any]):
    """Keeps the calls of each model turn and nothing beside them, and comments on them in the person's language."""

    def __init__(self, locale: str) -> None:
        super().__init__()
        self.locale = locale

    async def awrap_model_call(
        self,
        request: ModelRequest[TurnContext],
        handler: Callable[[ModelRequest[TurnContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        action = read_action(await handler(request))
        return ModelResponse(result=[keep_calls(action, list_calls(request.state["messages"]))])

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        activity_id, name = request.tool_call["id"] or "", request.tool_call["name"]
        with comment(activity_id, name, self.locale) as step:
            result = await handler(request)
            step.status = read_status(result)
        return result


async def explore(research: Research, request: HumanMessage) -> None:
    """Let the agent search and read until it has enough, or its turns are used up. Raises ModelError."""
    context = research.context
    # The last turn is the synthesis. At the limit the agent just stops: nobody reads its last message.
    limit: Any = ModelCallLimitMiddleware(run_limit=KNOWLEDGE_MODEL_CALLS - 1, exit_behavior="end")
    agent = create_agent(
        model=context.models.chat(KNOWLEDGE_BASE.profile, KNOWLEDGE_BASE.label),
        tools=list_tools(research),
        system_prompt=write_rules(),
        middleware=[limit, ResearchMiddleware(context.turn.locale)],
        context_schema=TurnContext,
        # Not even the thread's own saver: a research leaves nothing but its result.
        checkpointer=False,
    )
    await agent.ainvoke({"messages": [request]}, context=context)


def list_tools(research: Research) -> Sequence[BaseTool]:
    """The tools that tenant and channel leave the agent."""
    context = research.context
    config = context.tenant.config.agent(KNOWLEDGE_BASE.id) or AgentConfig()
    kept = exclude_tools(build_tools(research), config.tool_exclusion, KNOWLEDGE_BASE.id)
    return narrow_tools(kept, context.turn, KNOWLEDGE_BASE.id)


def build_tools(research: Research) -> Sequence[BaseTool]:
    return [build_search_tool(research), build_page_tool(research)]


def write_rules() -> SystemMessage:
    """The instructions; nothing in them changes with the request."""
    return write_prompt(f"{read_text('knowledge_base/prompt.md')}\n\n{untrusted_content_policy()}")
