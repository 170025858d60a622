"""The role-play as its transcript tells it, and the window of it that the counterpart sees."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage

from graph.oria.tools.simulation.drafting import Draft, build_scenario
from graph.policy import TRIM_MESSAGES, TRIM_TOKENS
from graph.simulation.assessment import describe_talk
from graph.simulation.dialogue import Practice, build_practice, write_window
from tests.support.simulations import draft

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
START = {
    "simulation_id": str(uuid4()),
    "scenario": build_scenario(Draft.model_validate(draft()), None, []).model_dump(mode="json"),
}


def practise(exchanges: int, words: str = "line") -> Practice:
    rows: list[dict[str, Any]] = []
    for number in range(exchanges):
        at = NOON + timedelta(minutes=number)
        rows.append({"role": "user", "text": f"{words} {number}", "created_at": at})
        rows.append({"role": "assistant", "text": f"reply {number}", "created_at": at})
    return build_practice(START, rows, NOON + timedelta(hours=1))


def test_a_practice_begins_with_its_first_exchange() -> None:
    assert (practise(0).exchanges, practise(0).started_at) == (0, NOON + timedelta(hours=1))
    assert (practise(3).exchanges, practise(3).started_at) == (3, NOON)
    assert practise(3).lines[0].text == "You wanted to see me?"


def test_the_speakers_take_turns_in_every_window() -> None:
    for exchanges in (0, 1, 14, 15, 40):
        messages = write_window(practise(exchanges), "now")
        kinds = [type(message) for message in messages]
        assert kinds == [AIMessage, HumanMessage] * (len(messages) // 2)
        assert (messages[0].text, messages[-1].text) == ("You wanted to see me?", "now")
        assert len(messages) <= TRIM_MESSAGES + 1


def test_a_long_talk_keeps_its_newest_exchanges() -> None:
    texts = [message.text for message in write_window(practise(40), "now")]
    assert "line 39" in texts
    assert "line 0" not in texts


def test_long_lines_are_bounded_by_tokens_but_the_last_stays() -> None:
    messages = write_window(practise(10, words="w" * 8_000), "x" * 8 * TRIM_TOKENS)
    assert [message.text[:1] for message in messages] == ["Y", "x"]


def test_the_assessment_sees_every_line_cut_where_it_is_long() -> None:
    talk = describe_talk(practise(40, words="w" * 8_000).lines)
    assert [line["line"] for line in talk] == list(range(1, 82))
    assert [line["speaker"] for line in talk[:3]] == ["counterpart", "person", "counterpart"]
    assert max(len(line["text"]) for line in talk) < 2_100
