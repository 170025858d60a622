"""Edits of the model request: only completed turns, whole pairs, the newest results."""

from random import Random

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from graph.middleware.history import AttachContext, ClearCompletedResults, DropCompletedCalls, TrimCompletedTurns
from graph.middleware.turns import list_answered, list_calls
from graph.oria.window import answers_message, starts_turn

NOW = "now"


def call_pair(name: str, call_id: str, result: str) -> list[AnyMessage]:
    tool_call = {"name": name, "args": {}, "id": call_id, "type": "tool_call"}
    return [
        AIMessage("", id=f"a-{call_id}", tool_calls=[tool_call]),
        ToolMessage(result, id=f"r-{call_id}", name=name, tool_call_id=call_id, artifact={"training_ids": [call_id]}),
    ]


def turn(turn_id: str, *pairs: list[AnyMessage], text: str = "Hello") -> list[AnyMessage]:
    closing = [] if turn_id == NOW else [AIMessage("Fine.", id=f"end-{turn_id}")]
    return [HumanMessage(text, id=turn_id), *(message for pair in pairs for message in pair), *closing]


def random_history(random: Random) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for number in [*range(random.randint(0, 25)), NOW]:
        pairs = [
            call_pair("any_tool", f"{number}.{index}", "x" * random.randint(0, 6_000))
            for index in range(random.randint(0, 4))
        ]
        messages += turn(str(number), *pairs, text="y" * random.randint(1, 3_000))
    return messages


def is_whole(messages: list[AnyMessage]) -> bool:
    return list_calls(messages) == list_answered(messages)


@pytest.mark.parametrize("seed", range(40))
def test_trimming_keeps_whole_turns_the_current_one_and_the_targets(seed: int) -> None:
    messages = random_history(Random(seed))
    start = next(index for index, message in enumerate(messages) if message.id == NOW)
    current = messages[start:]
    edited = list(messages)
    TrimCompletedTurns(NOW, starts_turn).apply(edited, count_tokens=count_tokens_approximately)
    assert edited[-len(current) :] == current
    assert is_whole(edited)
    assert starts_turn(edited[0])
    assert edited == messages[len(messages) - len(edited) :]
    if len(edited) > len(current):
        assert len(edited) <= 30
        assert count_tokens_approximately(edited) <= 12_000


def test_trimming_does_not_start_at_answers_inside_a_turn() -> None:
    old = turn("old", call_pair("any_tool", "1", "ok"))
    old[3:3] = [AIMessage("- Which?", id="q"), answers_message("- This", message_id="a")]
    edited = [*old, *turn(NOW)]
    TrimCompletedTurns(NOW, starts_turn, max_messages=3).apply(edited, count_tokens=count_tokens_approximately)
    assert [message.id for message in edited] == [NOW]


def test_results_are_cleared_above_the_trigger_but_for_the_newest_three() -> None:
    pairs = [call_pair("any_tool", str(number), "x" * 8_000) for number in range(5)]
    edited = [*turn("old", *pairs), *turn(NOW, call_pair("any_tool", "6", "y"))]
    before = [message.model_copy() for message in edited]
    ClearCompletedResults(NOW).apply(edited, count_tokens=count_tokens_approximately)
    results = [message.text for message in edited if isinstance(message, ToolMessage)]
    assert results == ["[cleared]"] * 3 + ["x" * 8_000] * 2 + ["y"]
    assert is_whole(edited)
    assert before[2].text == "x" * 8_000


def test_results_of_the_current_turn_are_never_cleared() -> None:
    pairs = [call_pair("any_tool", str(number), "x" * 9_000) for number in range(6)]
    edited = [*turn("old", call_pair("any_tool", "0", "z")), *turn(NOW, *pairs)]
    ClearCompletedResults(NOW).apply(edited, count_tokens=count_tokens_approximately)
    assert [message.text for message in edited if isinstance(message, ToolMessage)] == ["[cleared]", *["x" * 9_000] * 6]


def test_nothing_is_cleared_below_the_trigger() -> None:
    messages = turn("old", *[call_pair("any_tool", str(number), "x" * 100) for number in range(9)])
    edited = [*messages, *turn(NOW)]
    ClearCompletedResults(NOW).apply(edited, count_tokens=count_tokens_approximately)
    assert edited[: len(messages)] == messages


def test_calls_of_dropped_tools_go_with_their_results_in_completed_turns_only() -> None:
    search, other = call_pair("talent_finder_tool", "1", "people"), call_pair("any_tool", "2", "kept")
    current = turn(NOW, call_pair("talent_finder_tool", "3", "kept too"))
    edited = [*turn("old", search, other), *current]
    DropCompletedCalls(NOW, {"talent_finder_tool"}).apply(edited, count_tokens=count_tokens_approximately)
    assert edited == [*turn("old", other), *current]


def test_halves_of_pairs_are_dropped() -> None:
    cut = call_pair("any_tool", "1", "never")[:1]
    orphan = call_pair("any_tool", "2", "nobody asked")[1:]
    edited = [*turn("old", cut, orphan), *turn(NOW)]
    DropCompletedCalls(NOW, ()).apply(edited, count_tokens=count_tokens_approximately)
    assert is_whole(edited)
    assert [message.id for message in edited] == ["old", "end-old", NOW]


def test_context_is_put_first() -> None:
    edited = turn(NOW)
    AttachContext(HumanMessage("summary", id="s")).apply(edited, count_tokens=count_tokens_approximately)
    assert [message.id for message in edited] == ["s", NOW]
