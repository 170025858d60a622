"""Prompts are data files: they must be there, whole, and free of the evaluation's cases."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.cases import NAMES, Case, load_cases, load_gate_cases
from evals.knowledge_cases import KNOWLEDGE_NAMES, load_knowledge_cases
from graph.oria.agents import SPECIALISTS
from graph.oria.language import name_language, pick_text
from graph.oria.prompts import FOLDER, read_prompt, read_sections
from local.offline_model.sentences import describe

ROOT = Path(__file__).parents[3]
# A near copy shares this much of its words with a message, counted both ways (Jaccard).
NEAR_COPY = 0.75
# Shorter messages ("And others?") are ordinary language that any text may hold a part of.
COMPARED_WORDS = 4


def fold(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def list_model_texts() -> Iterator[Path]:
    yield from FOLDER.parent.rglob("*.md")
    yield from (ROOT / "local/sample_tenant/handbook").rglob("*.md")
    yield from (path for path in (ROOT / "local/offline_model").rglob("*") if path.suffix in {".py", ".md", ".json"})


def test_sections_are_the_choices_of_a_question() -> None:
    assert list(read_sections("guardrail_decision")) == ["allow", "doubt", "block"]
    assert list(read_sections("memory_update_decision")) == ["skip", "update"]


def test_the_text_before_the_sections_is_the_instruction() -> None:
    instructions = read_prompt("guardrail_decision")
    assert instructions.startswith("You protect")
    assert "##" not in instructions


@pytest.fixture(scope="module")
def model_texts() -> list[str]:
    texts = [path.read_text(encoding="utf-8") for path in list_model_texts()]
    return texts + [specialist.description for specialist in SPECIALISTS.values()]


@pytest.fixture(scope="module")
def word_sets(model_texts: list[str]) -> list[frozenset[str]]:
    sentences = {fold(piece) for text in model_texts for piece in describe(" ".join(text.split()))}
    return [frozenset(sentence.split()) for sentence in sentences]


def list_asked(name: str) -> list[Case]:
    """The cases of a set; questions to the knowledge as messages."""
    if name not in KNOWLEDGE_NAMES:
        return load_cases(name)
    return [Case(case.id, case.language, case.question, name) for case in load_knowledge_cases(name)]


@pytest.mark.parametrize("name", [*NAMES, *KNOWLEDGE_NAMES])
def test_no_evaluated_message_is_written_into_a_prompt_or_the_offline_model(
    name: str, model_texts: list[str], word_sets: list[frozenset[str]]
) -> None:
    folded = [f" {fold(text)} " for text in model_texts]
    copied = [case.id for case in list_asked(name) if any(f" {fold(case.message)} " in text for text in folded)]
    copied += [case.id for case in list_asked(name) if is_near_copy(case, word_sets)]
    assert copied == []


def is_near_copy(case: Case, word_sets: list[frozenset[str]]) -> bool:
    words = frozenset(fold(case.message).split())
    if len(words) < COMPARED_WORDS:
        return False
    return any(len(words & other) / len(words | other) >= NEAR_COPY for other in word_sets if words & other)


def test_a_near_copy_is_recognised() -> None:
    case = load_cases("routing")[1]
    assert is_near_copy(case, [frozenset(f"{fold(case.message)} please".split())])


def test_every_agent_has_its_messages_in_three_languages() -> None:
    for name, least in (("routing", 30), ("routing_hard", 15), ("routing_held_out", 9)):
        counts = Counter((case.expected, case.language) for case in load_cases(name))
        for agent in SPECIALISTS:
            by_language = [counts[agent, language] for language in ("en", "fr", "es")]
            assert sum(by_language) >= least
            assert min(by_language) >= least // 3


def test_no_message_is_in_two_sets() -> None:
    messages = [case.message for name in [*NAMES, *KNOWLEDGE_NAMES] for case in list_asked(name)]
    assert [message for message, count in Counter(messages).items() if count > 1] == []


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
