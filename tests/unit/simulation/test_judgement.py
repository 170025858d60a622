"""Quotes are what was said; verdicts without them are taken back."""

from typing import Any

import pytest

from graph.simulation.dialogue import Line
from graph.simulation.judgement import (
    Quote,
    WrittenJudgement,
    find_quotes,
    judge_nothing,
    order_by_number,
    read_judgement,
)
from graph.simulation.scenario import Counterpart, PractisedSkill, Scenario
from oria_runtime.models.errors import ModelMalformedError

LINES = [
    Line("counterpart", "You wanted to see me?"),
    Line("person", "Yes. The report came three days late – and sales had to wait…"),
    Line("counterpart", "Oh. So SALES had to   wait for me?"),
    Line("person", "Exactement, c'était gênant."),
]
SCENARIO = Scenario(
    title="Late",
    situation="A report was late.",
    counterpart=Counterpart(role="colleague", attitude="calm", instructions="Tell."),
    goal="A date.",
    opening_line="Yes?",
    outcomes=("Impact restated.",),
    skills=(PractisedSkill(title="Feedback", code=None, criteria=("names it",)),),
    difficulty="beginner",
    minutes=10,
)


def written(**changes: Any) -> WrittenJudgement:
    values: dict[str, Any] = {
        "outcomes": [{"number": 1, "result": "met", "reason": "Yes.", "quotes": ["sales had to wait for me"]}],
        "skills": [{"number": 1, "level": "strong", "reason": "Yes.", "quotes": ["the report came three days late"]}],
        "summary": " Well done. ",
        "next_steps": [" Go on. ", "", "a", "b", "c", "d"],
    }
    return WrittenJudgement.model_validate(values | changes)


@pytest.mark.parametrize(
    ("quote", "speaker"),
    [
        ("The report came three days late", "person"),
        ("the report came THREE days late, and sales had to wait", "person"),
        ("sales had to wait for me", "counterpart"),
        ("Exactement c'etait genant", "person"),
        ("You wanted to see me", "counterpart"),
    ],
)
def test_a_quote_is_found_whatever_its_case_and_punctuation(quote: str, speaker: str) -> None:
    assert find_quotes([quote], LINES) == [Quote(speaker, quote)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "quote",
    [
        "The report came four days late",
        "You wanted to see me? Yes. The report came",
        "late",
        "he report came three days lat",
        "",
        "???",
        "x" * 1_000,
    ],
)
def test_what_no_single_line_holds_is_no_quote(quote: str) -> None:
    assert find_quotes([quote], LINES) == []


def test_a_short_line_can_be_quoted_whole() -> None:
    assert find_quotes(["Yes.", "No."], [Line("person", "Yes!")]) == [Quote("person", "Yes.")]


def test_quotes_are_bounded_and_come_once() -> None:
    lines = [Line("person", f"This is a long line with number {number}") for number in range(9)]
    texts = [line.text for line in lines]
    assert [quote.text for quote in find_quotes([texts[0], texts[0].upper(), *texts], lines)] == texts[:3]


def test_verdicts_with_their_quotes_stand() -> None:
    judgement = read_judgement(written(), SCENARIO, LINES)
    assert (judgement.outcomes[0].verdict, judgement.skills[0].verdict) == ("met", "strong")
    assert (judgement.summary, judgement.next_steps) == ("Well done.", ["Go on.", "a", "b", "c"])


@pytest.mark.parametrize("result", ["met", "partly"])
def test_an_unproven_outcome_is_taken_back(result: str) -> None:
    entry = {"number": 1, "result": result, "reason": "It says so.", "quotes": ["never said by anybody"]}
    judged = read_judgement(written(outcomes=[entry]), SCENARIO, LINES).outcomes[0]
    assert (judged.verdict, judged.reason, judged.quotes) == ("not_met", None, ())


def test_only_the_persons_lines_prove_a_skill() -> None:
    entry = {"number": 1, "level": "proficient", "reason": "Yes.", "quotes": ["sales had to wait for me"]}
    assert read_judgement(written(skills=[entry]), SCENARIO, LINES).skills[0].verdict == "not_shown"


def test_a_missing_proof_keeps_its_reason() -> None:
    entry = {"number": 1, "result": "not_met", "reason": "No date was set.", "quotes": []}
    judged = read_judgement(written(outcomes=[entry]), SCENARIO, LINES).outcomes[0]
    assert (judged.verdict, judged.reason) == ("not_met", "No date was set.")


@pytest.mark.parametrize("numbers", [[], [1, 1], [2], [0], [1, 2]])
def test_each_part_is_judged_exactly_once(numbers: list[int]) -> None:
    entry = {"result": "met", "reason": "", "quotes": []}
    entries = [{"number": number, **entry} for number in numbers]
    with pytest.raises(ModelMalformedError):
        read_judgement(written(outcomes=entries), SCENARIO, LINES)


def test_parts_come_in_the_scenarios_order() -> None:
    entries = written(
        outcomes=[{"number": n, "result": "met", "reason": str(n), "quotes": []} for n in (2, 1)]
    ).outcomes
    assert [entry.number for entry in order_by_number(entries, 2)] == [1, 2]


def test_a_model_that_writes_on_is_bounded() -> None:
    entry = {"number": 1, "result": "not_met", "reason": "r " * 9_999, "quotes": []}
    given = written(summary="s\x00 " * 9_999, next_steps=["n" * 9_999], outcomes=[entry])
    judgement = read_judgement(given, SCENARIO, LINES)
    assert judgement.summary is not None
    assert "\x00" not in judgement.summary
    sizes = [len(judgement.summary), len(judgement.next_steps[0]), len(judgement.outcomes[0].reason or "")]
    assert sizes == [1_500, 500, 500]


def test_nothing_said_is_nothing_shown() -> None:
    judgement = judge_nothing(SCENARIO)
    assert [each.verdict for each in (*judgement.outcomes, *judgement.skills)] == ["not_met", "not_shown"]
    assert judgement.summary is None
