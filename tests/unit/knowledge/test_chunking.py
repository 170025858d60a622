"""Chunks: whole paragraphs within a section, stable ids."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge import chunking
from oria_runtime.knowledge.chunking import Draft, embedded_text, identify, split
from oria_runtime.knowledge.content.content import Content, Section

DOCUMENT = UUID(int=1)


def make(*texts: str) -> Content:
    return Content("T", tuple(Section((f"H{number}",), None, text) for number, text in enumerate(texts)))


def name(content: Content) -> list[UUID]:
    return identify(DOCUMENT, split(content))


def squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(st.lists(st.text(st.sampled_from("ab. \n。é字\u0301👍\u200d🏽ש"), max_size=3_000), max_size=3))
def test_no_text_is_lost_nothing_is_empty_and_nothing_too_long(texts: list[str]) -> None:
    drafts = split(make(*texts))
    assert all(draft.text.strip() and len(draft.text) <= chunking.MOST for draft in drafts)
    for number, text in enumerate(texts):
        assert squeeze("".join(draft.text for draft in drafts if draft.path == (f"H{number}",))) == squeeze(text)
    assert split(make(*texts)) == drafts
    assert len(set(identify(DOCUMENT, drafts))) == len(drafts)


@pytest.mark.parametrize(
    ("unit", "whole"),
    [
        ("This is a sentence of some length, e.g. one with commas. ", r".*[.]"),
        ("这是一个没有空格的句子,它说了一些关于假期的事情。", ".*。"),
        ("هذه جملة عن الإجازات السنوية. ", r".*[.]"),
        ("👨‍👩‍👧", "(👨‍👩‍👧)+"),
        ("e\u0301", "(e\u0301)+"),
    ],
)
def test_long_texts_are_cut_where_a_sentence_or_character_ends(unit: str, whole: str) -> None:
    drafts = split(make(unit * 500))
    assert len(drafts) > 1
    assert all(re.fullmatch(whole, draft.text, re.DOTALL) for draft in drafts)


def test_a_paragraph_inserted_at_the_top_changes_no_other_id() -> None:
    before = make(*(f"Paragraph {number}. " * 30 for number in range(20)))
    after = Content("T", (Section((), None, "New."), *before.sections))
    assert name(after)[1:] == name(before)


def test_within_a_long_section_an_insertion_changes_only_what_is_near() -> None:
    paragraphs = [f"This is paragraph number {number} of a long section. " * 4 for number in range(200)]
    before, after = name(make("\n\n".join(paragraphs))), name(make("\n\n".join(["Inserted. " * 15, *paragraphs])))
    assert len(before) > 40
    assert len(set(after) - set(before)) <= 6


def test_equal_chunks_have_ids_of_their_own() -> None:
    drafts = [Draft(("A",), None, "same"), Draft(("A",), None, "same"), Draft(("B",), None, "same")]
    ids = identify(DOCUMENT, drafts)
    assert len(set(ids)) == 3
    assert identify(UUID(int=2), drafts) != ids
    assert identify(DOCUMENT, drafts[1:])[0] == ids[0]


def test_a_document_of_too_many_parts_is_refused() -> None:
    with pytest.raises(ExtractionError) as caught:
        split(make(*["x"] * (chunking.CHUNKS + 1)))
    assert caught.value.reason == "too_complex"


@pytest.mark.parametrize(
    ("title", "path", "text"),
    [
        ("Leave", ("Leave", "Sick"), "Leave > Sick\nx"),
        ("Site", ("Leave",), "Site > Leave\nx"),
        (None, (), "x"),
    ],
)
def test_what_is_embedded_names_each_heading_once(title: str | None, path: tuple[str, ...], text: str) -> None:
    assert embedded_text(title, Draft(path, None, "x")) == text
