"""Whatever a conversation looks like, a model may be shown its window."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from graph.oria.window import (
    answers_message,
    cut_window,
    drop_old_artifacts,
    exceeds_window,
    find_last_card,
    merge_messages,
    split_turns,
)
from graph.policy import ARTIFACT_MESSAGES, CEILING_MESSAGES, WINDOW_MESSAGES, WINDOW_TOKENS
from tests.unit.oria.conversations import conversations

LIMITS = st.integers(min_value=1, max_value=80)


def call_ids(messages: Sequence[AnyMessage]) -> list[str | None]:
    return [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]


def result_ids(messages: Sequence[AnyMessage]) -> list[str | None]:
    return [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]


@given(messages=conversations(), limit=LIMITS)
def test_a_cut_keeps_calls_and_results_together(messages: list[AnyMessage], limit: int) -> None:
    kept = cut_window(messages, limit)
    assert call_ids(kept) == result_ids(kept)


@given(messages=conversations(), limit=LIMITS)
def test_a_cut_starts_with_the_message_of_a_turn(messages: list[AnyMessage], limit: int) -> None:
    first = cut_window(messages, limit)[0]
    assert isinstance(first, HumanMessage)
    assert str(first.id).startswith("turn-")


@given(messages=conversations(), limit=LIMITS, tokens=st.integers(min_value=1, max_value=2_000))
def test_a_cut_keeps_the_newest_and_the_current_turn_whole(messages: list[AnyMessage], limit: int, tokens: int) -> None:
    kept = cut_window(messages, limit, tokens)
    current = split_turns(messages)[-1]
    assert kept == messages[len(messages) - len(kept) :]
    assert kept[len(kept) - len(current) :] == current


@given(messages=conversations(), limit=LIMITS, tokens=st.integers(min_value=1, max_value=2_000))
def test_a_cut_is_within_its_limits_unless_one_turn_alone_exceeds_them(
    messages: list[AnyMessage], limit: int, tokens: int
) -> None:
    kept = cut_window(messages, limit, tokens)
    within = len(kept) <= limit and count_tokens_approximately(kept) <= tokens
    assert within or kept == split_turns(messages)[-1]


@given(messages=conversations(), limit=LIMITS)
def test_a_cut_drops_no_turn_that_fits(messages: list[AnyMessage], limit: int) -> None:
    kept = cut_window(messages, limit)
    older = split_turns(messages[: len(messages) - len(kept)])
    assert not older or len(older[-1]) + len(kept) > limit


@given(messages=conversations())
def test_artifacts_live_in_the_last_messages_only(messages: list[AnyMessage]) -> None:
    trimmed = drop_old_artifacts(messages)
    assert [message.id for message in trimmed] == [message.id for message in messages]
    assert trimmed[-ARTIFACT_MESSAGES:] == messages[-ARTIFACT_MESSAGES:]
    assert all(getattr(message, "artifact", None) is None for message in trimmed[:-ARTIFACT_MESSAGES])


@settings(max_examples=30)
@given(messages=conversations(most_turns=60))
def test_the_channel_stays_below_its_ceiling_message_by_message(messages: list[AnyMessage]) -> None:
    channel: list[AnyMessage] = []
    for turn in split_turns(messages):
        channel = merge_messages(channel, turn)
        assert len(channel) <= CEILING_MESSAGES
        assert isinstance(channel[0], HumanMessage)
        assert call_ids(channel) == result_ids(channel)


def test_the_reducer_replaces_a_message_of_the_same_id() -> None:
    channel = merge_messages([HumanMessage("a", id="1")], [HumanMessage("b", id="1"), AIMessage("c", id="2")])
    assert [message.text for message in channel] == ["b", "c"]


def test_the_reducer_takes_a_compacted_window_whole() -> None:
    old: list[AnyMessage] = [HumanMessage("a", id="1"), AIMessage("b", id="2"), HumanMessage("c", id="3")]
    channel = merge_messages(old, [RemoveMessage(REMOVE_ALL_MESSAGES), old[2]])
    assert channel == [old[2]]


def test_a_window_is_full_by_messages_or_by_tokens() -> None:
    assert not exceeds_window([HumanMessage("a")] * WINDOW_MESSAGES)
    assert exceeds_window([HumanMessage("a")] * (WINDOW_MESSAGES + 1))
    assert exceeds_window([HumanMessage("a" * 4 * WINDOW_TOKENS)])


def test_answers_inside_a_turn_start_no_turn() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("plan"),
        AIMessage("How much time?"),
        answers_message("Two hours"),
        AIMessage("Here"),
    ]
    assert len(split_turns(messages)) == 1


def test_the_last_card_is_known_after_its_artifact_is_gone() -> None:
    card = ToolMessage("{}", tool_call_id="1", artifact={"card_type": "profile_analysis"})
    later = [HumanMessage("and?")] * ARTIFACT_MESSAGES
    assert find_last_card([HumanMessage("hi"), card]) == "profile_analysis"
    assert find_last_card(drop_old_artifacts([card, *later])) == "profile_analysis"


def test_a_newer_card_without_a_name_hides_the_older_one() -> None:
    card = ToolMessage("{}", tool_call_id="1", artifact={"card_type": "profile_analysis"})
    other = ToolMessage("{}", tool_call_id="2", artifact={"training_ids": ["t1"]})
    assert find_last_card([card, other]) == ""
    assert find_last_card([HumanMessage("hi"), AIMessage("hello")]) is None
