"""Comparing names as people write them: without regard to case, accents and punctuation."""

import re
from collections.abc import Iterable

from oria_runtime.catalog.spelling import fold_letters

WORD = re.compile(r"\w[\w+#]*")


def fold(text: str) -> str:
    """The words of a text in lower case without accents, one space between them."""
    return " ".join(WORD.findall(fold_letters(text)))


def contains(text: str, words: str) -> bool:
    """Whether these words occur in the text, whole and in this order; no words occur in no text."""
    folded = fold(words)
    return bool(folded) and f" {folded} " in f" {fold(text)} "


def unite(values: Iterable[str]) -> list[str]:
    """The values without repetitions in other spellings, and without blank ones; the first spelling stays."""
    found: dict[str, str] = {}
    for value in values:
        if key := fold(value):
            found.setdefault(key, value)
    return list(found.values())
