"""The questions about the handbook, and what the report makes of what was found for them."""

from collections import Counter
from pathlib import Path

import pytest

from evals.knowledge import Retrieved, measure_recall, write_retrieval_report
from evals.knowledge_cases import (
    HANDBOOK,
    HELD_OUT,
    KNOWLEDGE_NAMES,
    KNOWN,
    UNRELATED,
    KnowledgeCase,
    list_pages,
    load_knowledge_cases,
)

CASE = KnowledgeCase("k-1", "en", "Where is it?", ["right", "also-right"])


def test_each_language_asks_as_much_and_every_set_has_its_own_questions() -> None:
    cases = [case for name in (KNOWN, HELD_OUT) for case in load_knowledge_cases(name)]
    assert Counter(case.language for case in cases) == {"en": 30, "fr": 30, "es": 30}
    assert all(case.pages for case in cases)
    assert not any(case.pages for case in load_knowledge_cases(UNRELATED))
    ids = [case.id for name in KNOWLEDGE_NAMES for case in load_knowledge_cases(name)]
    assert len(set(ids)) == len(ids)


@pytest.mark.skipif(not HANDBOOK.exists(), reason="../shared/data/handbook is not there")
def test_every_answer_is_a_page_of_the_handbook() -> None:
    pages = list_pages()
    named = {page for name in KNOWLEDGE_NAMES for case in load_knowledge_cases(name) for page in case.pages}
    assert named <= pages.keys()


def test_without_the_handbook_a_run_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no pages: the set `knowledge` asks about the handbook"):
        list_pages(tmp_path)


def test_a_right_page_counts_from_its_first_passage_on() -> None:
    found = [Retrieved(CASE, ["wrong", "also-right", "right"]), Retrieved(CASE, ["wrong"]), Retrieved(CASE, [])]
    assert [each.rank for each in found] == [2, None, None]
    assert [measure_recall(found, depth) for depth in (1, 2)] == [0.0, pytest.approx(1 / 3)]


def test_the_report_has_the_curve_the_languages_and_what_stood_in_the_place_of_a_missed_page() -> None:
    late = Retrieved(CASE, ["wrong"] * 6 + ["right"])
    french = Retrieved(KnowledgeCase("k-2", "fr", "Où ?", ["right"]), ["right"])
    nothing = Retrieved(KnowledgeCase("n-1", "en", "Why?", []), [])
    report = "\n".join(write_retrieval_report({KNOWN: [late], HELD_OUT: [french], UNRELATED: [nothing]}))
    curve = [line.split() for line in report.splitlines() if line.startswith("all ")]
    assert curve == [["all", "2", *["0.50"] * 6, *["1.00"] * 4]]
    assert "missed  k-1 (place 7): Where is it?" in report
    assert "found  wrong" in report
    assert "unrelated questions without a passage: 1 of 1" in report
    assert "k-2" not in report
