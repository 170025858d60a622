"""Writes guidance for one concrete work task; the person reads it directly."""

from collections.abc import Sequence
from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, fail
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.task_helper.guidance import write_guidance
from graph.oria.untrusted import encode_data
from graph.policy import TASK_QUESTION_CHARACTERS
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "task_helper_tool"
NO_TASK: Final = "Error: no task was given. Ask the person for the task and what shall come of it; guess neither."
# What the agent's boundary says for whatever the tool raises.
FAILURE: Final = "Error: the guidance could not be written just now. The request is fine; it can be tried again soon."


class TaskQuestion(BaseModel):
    """Arguments of the tool."""

    user_question: str = Field(
        description="The concrete task, what shall come of it and all that the person said about it, in their words."
    )


def build_task_helper_tool(profile: Profile | None) -> BaseTool:
    """The tool. Its errors leave it: the agent's ToolErrorMiddleware ends them with FAILURE."""

    @declare_tool(NAME, TaskQuestion)
    async def task_helper(runtime: ToolRuntime[TurnContext], user_question: str) -> ToolResult:
        """Write guidance, a draft, an outline, a checklist or a template for one concrete work task.

        Call it only when the conversation names the task and the outcome that is wanted; otherwise ask for what is
        missing first, and never guess it. The guidance goes to the person directly.
        """
        messages = runtime.state["messages"]
        return await help_with(user_question, profile, messages, runtime.context, runtime.tool_call_id or "")

    return task_helper


async def help_with(
    user_question: str, profile: Profile | None, messages: Sequence[AnyMessage], context: TurnContext, call_id: str
) -> ToolResult:
    """The guidance as a delivery. The result message holds it too: beside another call's result it is not delivered."""
    question = user_question.strip()[:TASK_QUESTION_CHARACTERS]
    if not question:
        return fail(NAME, call_id, NO_TASK)
    text = await write_guidance(question, profile, messages, context)
    return deliver(ToolMessage(encode_data({"guidance": text}), name=NAME, tool_call_id=call_id), text=text)
