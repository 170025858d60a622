"""A call that hands the turn over to another node, and ends the agent's run.

The tool records its own call as the handover. The call and the tool's word for it are taken out of what the run leaves
(`withdraw_call`): the node that takes over writes the call into the thread together with its real result.
"""

from collections.abc import Sequence
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import hook_config
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.middleware.interactions import REJECTION, list_pending
from graph.middleware.tool_boundary import fail
from oria_runtime.turns.context import TurnContext


class HandoverState(AgentState[Any]):
    """The agent's state with the call that hands over."""

    handover: NotRequired[AIMessage]


class HandoverMiddleware(AgentMiddleware[HandoverState, TurnContext, Any]):
    """Runs the tool `name` alone, and ends the run once it has been called.

    A batch of it and other calls is rejected before anything runs: what the others found or showed would be left
    behind. Of the same call twice, one is made.
    """

    state_schema = HandoverState

    def __init__(self, name: str) -> None:
        super().__init__()
        self.tool = name

    async def aafter_model(self, state: HandoverState, runtime: Runtime[TurnContext]) -> dict[str, Any] | None:  # noqa: ARG002
        pending = list_pending(state)
        others = [call for call in pending if call["name"] != self.tool]
        if len(pending) < 2 or len(others) == len(pending):
            return None
        if others:
            return {"messages": [fail(call["name"], call["id"], REJECTION) for call in pending]}
        last = next(message for message in reversed(state["messages"]) if isinstance(message, AIMessage))
        answered = [call for call in last.tool_calls if call not in pending]
        return {"messages": [last.model_copy(update={"tool_calls": [*answered, pending[0]]})]}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: HandoverState, runtime: Runtime[TurnContext]) -> dict[str, Any] | None:  # noqa: ARG002
        return {"jump_to": "end"} if state.get("handover") else None


def record_handover(messages: Sequence[AnyMessage], name: str, call_id: str) -> Command[Any]:
    """The update of a tool that hands over: its own call, without arguments, as the handover."""
    caller = find_caller(messages, call_id)
    made = [call | {"args": {}} for call in caller.tool_calls if call["id"] == call_id]
    # Under an id of its own: what is left of the caller, if it made other calls too, keeps its id.
    handover = caller.model_copy(update={"tool_calls": made, "id": None})
    return Command(
        update={"handover": handover, "messages": [ToolMessage("Recorded.", name=name, tool_call_id=call_id)]}
    )


def find_caller(messages: Sequence[AnyMessage], call_id: str) -> AIMessage:
    """The model's message that holds the call."""
    callers = (message for message in reversed(messages) if isinstance(message, AIMessage))
    return next(message for message in callers if any(call["id"] == call_id for call in message.tool_calls))


def withdraw_call(messages: Sequence[AnyMessage], handover: AIMessage) -> list[AnyMessage]:
    """The messages of a run without the call that hands over and the tool's word for it.

    A message that made other calls too, which were refused, stays with those. What the model thought goes with the
    call: a provider refuses a conversation that holds it twice.
    """
    call_id = handover.tool_calls[0]["id"]
    kept: list[AnyMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
            continue
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            calls = [call for call in message.tool_calls if call["id"] != call_id]
            kept += [message.model_copy(update={"tool_calls": calls, "content": ""})] if calls else []
            continue
        kept.append(message)
    return kept
