"""How a specialist answers: a private choice of action, then one public answer without tools.

The choice is never shown and never streamed; what it says beside its calls is dropped. When it calls nothing, the
public answer is generated without tools and streamed as `message.delta`, so that the deltas are the final text. A tool
may deliver instead (`deliver`): its text and cards are the answer as a whole, and no model rephrases them.
(seeds/oria_orchestration.md, "Main graph".)
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from operator import add
from typing import Annotated, Any, Final, NotRequired, TypedDict
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.middleware.answers import stream_answer
from graph.middleware.turns import list_calls
from oria_runtime.db.text import clean_json
from oria_runtime.errors import StageFailedError
from oria_runtime.models.prompts import extend_prompt
from oria_runtime.turns.context import TurnContext

# Content blocks of a selection that are not kept: text, and the calls as each provider writes them.
PRIVATE: Final = frozenset({"text", "function_call", "tool_use", "input_json_delta"})


class Delivery(TypedDict):
    """What a tool gives the person directly. JSON only: it is checkpointed when a later call pauses."""

    tool_call_id: str
    text: str
    cards: list[dict[str, Any]]


class DeliveryState(AgentState[Any]):
    """The agent's state with the deliveries of this run."""

    deliveries: NotRequired[Annotated[list[Delivery], add]]


class DeliveryMiddleware(AgentMiddleware[DeliveryState, TurnContext, Any]):
    """Splits each model turn into selection and answer.

    `selection` and `answer` are instructions added to the system message of the respective phase. `settings` are model
    settings of the selection, the only phase with tools.
    """

    state_schema = DeliveryState

    def __init__(self, *, selection: str, answer: str, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self.selection = selection
        self.answer = answer
        self.settings = dict(settings)

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: DeliveryState, runtime: Runtime[TurnContext]) -> dict[str, Any] | None:  # noqa: ARG002
        """End the run when the last calls have all delivered; the delivered text closes the turn in history."""
        delivered = find_delivered(state)
        if not delivered:
            return None
        text = "\n\n".join(delivery["text"] for delivery in delivered)
        return {"jump_to": "end", "messages": [AIMessage(text)]}

    async def awrap_model_call(
        self,
        request: ModelRequest[TurnContext],
        handler: Callable[[ModelRequest[TurnContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        if request.tools:
            private = request.override(
                system_message=extend_prompt(request.system_message, self.selection), model_settings=self.settings
            )
            action = read_action(await handler(private))
            if action.tool_calls:
                return ModelResponse(result=[keep_calls(action, list_calls(request.state["messages"]))])
        public = [extend_prompt(request.system_message, self.answer), *request.messages]
        # Without the provider's id: a caching gateway repeats it, and the answer would replace an earlier one.
        return ModelResponse(result=[AIMessage(await stream_answer(request.model, public))])


def deliver(message: ToolMessage, *, text: str, cards: Sequence[Mapping[str, Any]] = ()) -> Command[Any]:
    """A tool result that is the answer: text and cards go to the person whole; `message` is what later turns read."""
    delivery: Delivery = {
        "tool_call_id": message.tool_call_id,
        "text": text,
        "cards": [dict(card) for card in cards],
    }
    return Command(update={"messages": [message], "deliveries": [delivery]})


def find_delivered(state: DeliveryState) -> list[Delivery]:
    """The deliveries of the last batch of calls if every call of it delivered, else none.

    A mixed batch goes back to the model: its other results may hold what the person asked for. The cards are shown
    all the same.
    """
    deliveries = state.get("deliveries", [])
    if not deliveries:
        return []
    called = [message.tool_calls for message in state["messages"] if isinstance(message, AIMessage)]
    batch: list[ToolCall] = next((calls for calls in reversed(called) if calls), [])
    by_call = {delivery["tool_call_id"]: delivery for delivery in deliveries}
    found = [by_call[call["id"]] for call in batch if call["id"] in by_call]
    return found if len(found) == len(batch) else []


def read_action(response: ModelResponse[Any]) -> AIMessage:
    """The message of the selection phase."""
    message = response.result[0]
    if not isinstance(message, AIMessage):
        raise StageFailedError("malformed_selection", "the selection is not the model's message")
    return message


def keep_calls(action: AIMessage, known: Collection[str] = ()) -> AIMessage:
    """The calls without the private text beside them, in storable text and under ids that the thread does not know.

    Blocks that a provider wants to see again, such as reasoning, stay. Blocks that repeat the calls go: a later edit of
    the calls, such as dropping one of a batch, would leave them behind, and a provider refuses a call without a result.
    """
    content: str | list[str | dict[str, Any]] = ""
    if isinstance(action.content, list):
        content = [block for block in action.content if isinstance(block, dict) and block.get("type") not in PRIVATE]
    calls = [{**call, "args": clean_json(call["args"])} for call in renew_ids(action.tool_calls, known)]
    # The thread's own id instead of the provider's, as for the answer.
    return action.model_copy(update={"content": content, "tool_calls": calls, "id": None})


def renew_ids(calls: Sequence[ToolCall], known: Collection[str]) -> list[ToolCall]:
    """The calls, with new ids where one is missing or used already.

    Some compatible servers count calls within an answer only. A repeated id would pass for answered, and the request
    of the next turn would have one call for two results.
    """
    renewed: list[ToolCall] = []
    used = set(known)
    for call in calls:
        call_id = call["id"] if call["id"] and call["id"] not in used else f"call_{uuid4().hex[:24]}"
        used.add(call_id)
        renewed.append({**call, "id": call_id})
    return renewed
