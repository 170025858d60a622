"""Prompts are data files: they must be there, whole, and free of the evaluation's cases."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.cases import load_cases, load_gate_cases
from graph.oria.agents import SPECIALISTS
from graph.oria.language import name_language, pick_text
from graph.oria.prompts import FOLDER, read_prompt, read_sections

ROOT = Path(__file__).parents[3]


def fold(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def list_model_texts() -> Iterator[Path]:
    yield from FOLDER.parent.rglob("*.md")
    yield from (path for path in (ROOT / "local/offline_model").rglob("*") if path.suffix in {".py", ".md", ".json"})


def test_sections_are_the_choices_of_a_question() -> None:
    assert list(read_sections("guardrail_decision")) == ["allow", "doubt", "block"]
    assert list(read_sections("memory_update_decision")) == ["skip", "update"]


def test_the_text_before_the_sections_is_the_instruction() -> None:
    instructions = read_prompt("guardrail_decision")
    assert instructions.startswith("You protect")
    assert "##" not in instructions


@pytest.mark.parametrize("case", [*load_gate_cases(), *load_cases("memory")], ids=lambda case: case.id)
def test_no_evaluated_message_is_written_into_a_prompt_or_the_offline_model(case: object) -> None:
    message = fold(getattr(case, "message"))  # noqa: B009
    texts = [fold(path.read_text(encoding="utf-8")) for path in list_model_texts()]
    texts += [fold(specialist.description) for specialist in SPECIALISTS.values()]
    assert not [text for text in texts if f" {message} " in f" {text} "]


def test_labels_of_the_cases_are_unique_and_complete() -> None:
    cases = load_gate_cases()
    assert len(cases) >= 100
    assert len({case.id for case in cases}) == len(cases)
    assert {case.language for case in cases} == {"en", "fr", "es"}


def test_languages_are_named_by_their_primary_subtag() -> None:
    assert [name_language(tag) for tag in ("fr-CA", "ES", "en_GB", "ja")] == ["French", "Spanish", "English", "ja"]


def test_a_fixed_text_falls_back_to_english() -> None:
    texts = {"en": "hello", "fr": "bonjour"}
    assert [pick_text(texts, locale) for locale in ("fr-BE", "es", "de")] == ["bonjour", "hello", "hello"]
