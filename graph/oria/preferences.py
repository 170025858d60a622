"""The preference list as a value: what a generated list becomes before it is stored.

An item is one sentence in the first person; its date, in brackets at its end, is the day on which it was noted.
"""

import re
from collections.abc import Sequence
from datetime import date

from graph.policy import PREFERENCE_CHARACTERS, PREFERENCE_ITEMS

DATED = re.compile(r"\s*\[\d{4}-\d{2}-\d{2}\]$")


def reconcile(stored: Sequence[str], generated: Sequence[str], today: date) -> list[str]:
    """The generated list with the dates it must have: an item that only lost or changed its date is the stored one.

    New items get today's date. Empty and repeated items go. A list that is too long loses its first items: what the
    person has just said comes last, and a full list must not ignore it for good.
    """
    known = {strip_date(item): item for item in stored}
    items: dict[str, str] = {}
    for text in generated:
        fact = strip_date(" ".join(text.replace("\x00", "").split()))[:PREFERENCE_CHARACTERS].strip()
        if fact:
            items[fact] = known.get(fact, f"{fact} [{today.isoformat()}]")
    return list(items.values())[-PREFERENCE_ITEMS:]


def strip_date(item: str) -> str:
    """An item without its date."""
    return DATED.sub("", item)
