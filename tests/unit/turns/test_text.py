"""Text that Postgres can hold."""

from hypothesis import given
from hypothesis import strategies as st

from oria_runtime.db.text import clean_json, clean_text

anything = st.text(st.characters(exclude_categories=()))


@given(anything)
def test_cleaned_text_has_no_nul_and_encodes(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned


@given(st.text())
def test_text_without_nul_and_surrogates_is_untouched(text: str) -> None:
    assert clean_text(text.replace("\x00", "")) == text.replace("\x00", "")


def test_cleaning_reaches_keys_and_nested_values() -> None:
    assert clean_json({"a\x00": [1, None, {"b": "c\x00"}]}) == {"a": [1, None, {"b": "c"}]}


def test_surrogate_pairs_become_their_character() -> None:
    assert clean_text("\ud83d\ude00") == "😀"
    assert clean_text("a\ud83d") == "a�"
