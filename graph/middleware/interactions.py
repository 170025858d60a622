"""Pauses of an agent: the shared clarification tool, and no other call beside one that may pause.

A call that runs beside a pausing one would run twice, before the pause and after it.
"""

from collections.abc import Collection, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.middleware.tool_boundary import fail
from graph.middleware.turns import list_answered
from oria_runtime.turns.context import TurnContext

REJECTION = "Not executed: this tool must be called alone. Choose one call and make only that."


class InteractionMiddleware(AgentMiddleware[AgentState[Any], TurnContext, Any]):
    """For interactive requests only: registers `tools`, and rejects batches that hold an interrupting tool.

    `interrupting` names every tool that may pause. Each call of a rejected batch gets its own error result before
    anything runs, and the model chooses again.
    """

    def __init__(self, tools: Sequence[BaseTool], *, interrupting: Collection[str]) -> None:
        super().__init__()
        self.tools = list(tools)
        self.interrupting = frozenset(interrupting)

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[TurnContext]) -> dict[str, Any] | None:  # noqa: ARG002
        pending = list_pending(state)
        if len(pending) < 2 or not any(call["name"] in self.interrupting for call in pending):
            return None
        return {"messages": [fail(call["name"], call["id"], REJECTION) for call in pending]}


def list_pending(state: AgentState[Any]) -> list[ToolCall]:
    """The calls of the last model message that nothing has answered yet."""
    messages = state["messages"]
    last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    answered = list_answered(messages)
    return [call for call in last.tool_calls if call["id"] not in answered] if last else []
