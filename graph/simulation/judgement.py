"""What the assessing model answers, and what code makes of it: quotes that nobody said prove nothing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.policy import (
    SIMULATION_NEXT_STEPS,
    SIMULATION_QUOTE_CHARACTERS,
    SIMULATION_QUOTES,
    SIMULATION_REASON_CHARACTERS,
    SIMULATION_TEXT_CHARACTERS,
)
from graph.simulation.budget import fold
from graph.simulation.dialogue import Line, Speaker
from graph.simulation.scenario import Scenario, bound_text
from oria_runtime.models.errors import ModelMalformedError

Result = Literal["met", "partly", "not_met"]
Level = Literal["strong", "proficient", "developing", "not_shown"]


class Written(BaseModel):
    """Base of the model's answers."""

    model_config = ConfigDict(extra="forbid")


class WrittenOutcome(Written):
    """The judgement of one outcome."""

    number: int = Field(description="The outcome's number.")
    result: Result
    reason: str
    quotes: list[str] = Field(description="Copied from single lines of the talk; empty without a proof.")


class WrittenSkill(Written):
    """The judgement of one skill."""

    number: int = Field(description="The skill's number.")
    level: Level
    reason: str
    quotes: list[str] = Field(description="Copied from single lines of the person; empty without a proof.")


class WrittenJudgement(Written):
    """The whole answer."""

    outcomes: list[WrittenOutcome] = Field(description="One entry for each outcome.")
    skills: list[WrittenSkill] = Field(description="One entry for each skill.")
    summary: str
    next_steps: list[str]


@dataclass(frozen=True)
class Quote:
    """Something that was said, and by whom."""

    speaker: Speaker
    text: str


@dataclass(frozen=True)
class Judged:
    """The verdict on one outcome (a Result) or skill (a Level). `reason` is None where no quote held."""

    verdict: Result | Level
    reason: str | None
    quotes: Sequence[Quote] = ()


@dataclass(frozen=True)
class Judgement:
    """Verdicts in the scenario's order. `summary` is None when there was nothing to judge."""

    outcomes: Sequence[Judged]
    skills: Sequence[Judged]
    summary: str | None = None
    next_steps: Sequence[str] = ()


def judge_nothing(scenario: Scenario) -> Judgement:
    """The judgement of a talk in which the person said nothing."""
    return Judgement(
        [Judged("not_met", None)] * len(scenario.outcomes), [Judged("not_shown", None)] * len(scenario.skills)
    )


def read_judgement(written: WrittenJudgement, scenario: Scenario, lines: Sequence[Line]) -> Judgement:
    """The verdicts with the quotes that are really in the talk; one that no quote holds is taken back.

    Raises ModelMalformedError when an outcome or a skill is missing, repeated or unknown, or the summary is empty.
    """
    outcomes = order_by_number(written.outcomes, len(scenario.outcomes))
    skills = order_by_number(written.skills, len(scenario.skills))
    summary = bound_text(written.summary, SIMULATION_TEXT_CHARACTERS)
    if not summary:
        raise ModelMalformedError("the assessment has no summary")
    person = [line for line in lines if line.speaker == "person"]
    return Judgement(
        outcomes=[hold(entry.result, "not_met", entry, lines) for entry in outcomes],
        skills=[hold(entry.level, "not_shown", entry, person) for entry in skills],
        summary=summary,
        next_steps=[step for given in written.next_steps if (step := bound_reason(given))][:SIMULATION_NEXT_STEPS],
    )


def hold(verdict: Any, unproven: Any, entry: WrittenOutcome | WrittenSkill, lines: Sequence[Line]) -> Judged:
    """The verdict if a quote proves it, else the one that needs no proof."""
    quotes = find_quotes(entry.quotes, lines)
    if verdict != unproven and not quotes:
        return Judged(unproven, None)
    return Judged(verdict, bound_reason(entry.reason) or None, quotes)


def bound_reason(text: str) -> str:
    return bound_text(text, SIMULATION_REASON_CHARACTERS)


def order_by_number(entries: Sequence[Any], count: int) -> list[Any]:
    """The entries 1 to `count`. Raises ModelMalformedError unless there is exactly one of each."""
    by_number: Mapping[int, Any] = {entry.number: entry for entry in entries}
    if len(entries) != count or by_number.keys() != set(range(1, count + 1)):
        raise ModelMalformedError("the assessment does not judge each part once")
    return [by_number[number] for number in range(1, count + 1)]


def find_quotes(texts: Collection[str], lines: Sequence[Line]) -> list[Quote]:
    """The quotes that one line holds, words for words, whatever their case and punctuation."""
    found: dict[str, Quote] = {}
    for text in texts:
        quote = " ".join(text.split())
        speaker = find_speaker(quote, lines)
        if speaker is not None:
            found.setdefault(fold(quote), Quote(speaker, quote))
    return list(found.values())[:SIMULATION_QUOTES]


def find_speaker(quote: str, lines: Sequence[Line]) -> Speaker | None:
    """Who said it, or None. A short quote must be the whole line: a word or two are found in any talk."""
    words = fold(quote)
    least, most = SIMULATION_QUOTE_CHARACTERS
    if not words or len(quote) > most:
        return None
    for line in lines:
        said = fold(line.text)
        if words == said or (len(words) >= least and f" {words} " in f" {said} "):
            return line.speaker
    return None
