"""What a specialist's model sees of the conversation (seeds/oria_orchestration.md, "Conversation size management").

These are edits of LangChain's ContextEditingMiddleware, which works on a copy of the model request: persisted history
and the identities in its artifacts stay. Only completed turns are edited. The current one stays whole with all its
call/result pairs, also when it alone exceeds every target; the native edits would clear and cut it too.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import cast

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from langchain.agents.middleware.context_editing import ContextEdit, TokenCounter
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage, filter_messages, trim_messages

from graph.middleware.turns import find_turn_start, list_answered, list_calls
from graph.policy import EDIT_KEPT_TOOL_RESULTS, EDIT_TOOL_RESULTS_TOKENS, TRIM_MESSAGES, TRIM_TOKENS


@dataclass(frozen=True)
class ClearCompletedResults:
    """Above the trigger, clears tool results of completed turns but for the most recent ones of the conversation."""

    turn_id: str
    trigger: int = EDIT_TOOL_RESULTS_TOKENS
    keep: int = EDIT_KEPT_TOOL_RESULTS

    def apply(self, messages: list[AnyMessage], *, count_tokens: TokenCounter) -> None:
        if count_tokens(messages) <= self.trigger:
            return
        start = find_turn_start(messages, self.turn_id)
        current = sum(isinstance(message, ToolMessage) for message in messages[start:])
        completed = messages[:start]
        native = ClearToolUsesEdit(trigger=0, keep=max(0, self.keep - current))
        native.apply(completed, count_tokens=count_tokens)
        messages[:start] = completed


@dataclass(frozen=True)
class DropCompletedCalls:
    """Removes the calls of these tools with their results from completed turns, and halves of pairs with them."""

    turn_id: str
    names: Collection[str]

    def apply(self, messages: list[AnyMessage], *, count_tokens: TokenCounter) -> None:  # noqa: ARG002
        start = find_turn_start(messages, self.turn_id)
        completed = messages[:start]
        calls, answered = list_calls(completed), list_answered(completed)
        dropped = list_calls(completed, self.names) | (calls ^ answered)
        if dropped:
            kept = filter_messages(completed, exclude_tool_calls=list(dropped))
            messages[:start] = cast("list[AnyMessage]", kept)


@dataclass(frozen=True)
class TrimCompletedTurns:
    """Cuts the oldest completed turns until messages and tokens are within the targets, the current turn included."""

    turn_id: str
    starts_turn: Callable[[AnyMessage], bool]
    max_messages: int = TRIM_MESSAGES
    max_tokens: int = TRIM_TOKENS

    def apply(self, messages: list[AnyMessage], *, count_tokens: TokenCounter) -> None:
        start = find_turn_start(messages, self.turn_id)
        current = messages[start:]
        completed = self._trim(messages[:start], self.max_messages - len(current), len)
        completed = self._trim(completed, self.max_tokens - count_tokens(current), count_tokens)
        messages[:start] = completed

    def _trim(self, messages: list[AnyMessage], budget: int, counter: TokenCounter) -> list[AnyMessage]:
        if budget <= 0:
            return []
        trimmed = trim_messages(messages, max_tokens=budget, token_counter=counter, strategy="last", start_on="human")
        kept = cast("list[AnyMessage]", trimmed)
        # `start_on` also takes the person's answers inside a turn, whose questions were cut.
        while kept and not self.starts_turn(kept[0]):
            kept = kept[1:]
        return kept


@dataclass(frozen=True)
class AttachContext:
    """Puts labelled data before what is left, such as the summary of what the window no longer holds."""

    message: HumanMessage

    def apply(self, messages: list[AnyMessage], *, count_tokens: TokenCounter) -> None:  # noqa: ARG002
        messages.insert(0, self.message)


def edit_history(
    turn_id: str,
    *,
    dropped: Collection[str],
    starts_turn: Callable[[AnyMessage], bool],
    context: Sequence[HumanMessage],
) -> ContextEditingMiddleware:
    """The middleware of a specialist's run.

    Args:
        dropped: names of tools whose completed calls this agent must not see.
        starts_turn: whether a message is the first of a turn.
        context: labelled untrusted data to attach after trimming, in this order.
    """
    attached: list[ContextEdit] = [AttachContext(message) for message in reversed(context)]
    edits: list[ContextEdit] = [
        ClearCompletedResults(turn_id),
        DropCompletedCalls(turn_id, dropped),
        TrimCompletedTurns(turn_id, starts_turn),
        *attached,
    ]
    return ContextEditingMiddleware(edits=edits)
