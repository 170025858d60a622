"""What a generated preference list becomes, whatever the model made of the dates."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from graph.oria.preferences import reconcile, strip_date
from graph.policy import PREFERENCE_CHARACTERS, PREFERENCE_ITEMS

TODAY = date(2026, 11, 30)
STORED = ["I learn best in the morning. [2026-01-05]", "Je préfère les formations courtes. [2026-02-10]"]
FACTS = st.text(max_size=600)


def test_unchanged_items_keep_their_date_even_when_the_model_drops_it() -> None:
    generated = ["I learn best in the morning.", "Je préfère les formations courtes. [2026-02-10]"]
    assert reconcile(STORED, generated, TODAY) == STORED


def test_a_changed_date_of_an_unchanged_item_is_put_right() -> None:
    assert reconcile(STORED, ["I learn best in the morning. [2030-01-01]"], TODAY) == STORED[:1]


def test_a_new_item_is_dated_today() -> None:
    assert reconcile(STORED, [*STORED, "I speak Spanish."], TODAY) == [*STORED, "I speak Spanish. [2026-11-30]"]


def test_an_undated_item_that_the_person_wrote_stays_undated() -> None:
    assert reconcile(["Call me Sam."], ["Call me Sam."], TODAY) == ["Call me Sam."]


def test_the_last_retraction_leaves_an_empty_list() -> None:
    assert reconcile(STORED, [], TODAY) == []


def test_a_full_list_still_takes_what_is_new() -> None:
    full = [f"I like book {number}. [2025-01-01]" for number in range(PREFERENCE_ITEMS)]
    assert reconcile(full, [*full, "I moved to Lyon."], TODAY) == [*full[1:], "I moved to Lyon. [2026-11-30]"]


def test_repeated_and_empty_items_go() -> None:
    assert reconcile([], ["I like tea.", " I like  tea. ", "", " \x00 "], TODAY) == ["I like tea. [2026-11-30]"]


@given(stored=st.lists(FACTS, max_size=5), generated=st.lists(FACTS, max_size=80))
def test_a_list_is_bounded_and_reconciling_it_again_changes_nothing(stored: list[str], generated: list[str]) -> None:
    known = reconcile([], stored, TODAY)
    items = reconcile(known, generated, TODAY)
    assert len(items) <= PREFERENCE_ITEMS
    assert all(len(strip_date(item)) <= PREFERENCE_CHARACTERS and "\x00" not in item for item in items)
    assert reconcile(items, items, date(2027, 1, 1)) == items
