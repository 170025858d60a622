"""Cutting text into what can be compared: sentences, and the clauses that a description lists."""

import re
from collections.abc import Iterable
from functools import lru_cache

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
CLAUSE_END = re.compile(r"\s*[,;:()]\s*|\s+(?:and|or|et|ou|y|o)\s+", re.IGNORECASE)
LEADING_MARK = re.compile(r"^\s*(?:[-*•#>]+|\d+[.)])\s*")
LEADING_LINK = re.compile(r"^(?:and|or|also|such as|for example|e\.g\.|like|including)\s+", re.IGNORECASE)
# A description that says what it is not for must not attract exactly that.
EXCLUDING = re.compile(r"^(?:not|never|no|do not|don't|without|except|unless|ne |pas |jamais|no )\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][\w'’-]*")
# Bounds on what is compared, so that a long message costs no more than a page.
MAXIMUM = 400
SENTENCES = 40
# Descriptions whose parts are kept: the same choices and tools come again with every request.
DESCRIPTIONS = 1_024


def split_sentences(text: str) -> list[str]:
    """The sentences of a text without list marks, each at most 400 characters."""
    parts = (LEADING_MARK.sub("", part).strip() for part in SENTENCE_END.split(text))
    return [part[:MAXIMUM] for part in parts if part]


def sample_text(text: str) -> list[str]:
    """What a message can be recognised by: its beginning as a whole, and its first sentences."""
    start = text[: MAXIMUM * SENTENCES]
    return unique([start[:MAXIMUM], *split_sentences(start)[:SENTENCES]])


def split_clauses(sentence: str) -> list[str]:
    """The parts that a sentence lists, without linking words."""
    parts = (LEADING_LINK.sub("", part).strip(" .!?…`\"'") for part in CLAUSE_END.split(sentence))
    return [part for part in parts if len(part) > 1]


@lru_cache(DESCRIPTIONS)
def describe(text: str) -> tuple[str, ...]:
    """What a description can be recognised by: its sentences and the clauses of each; exclusions are left out."""
    included = [sentence for sentence in split_sentences(text) if not EXCLUDING.match(sentence)]
    return tuple(unique(piece for sentence in included for piece in (sentence, *split_clauses(sentence))))


def unique(pieces: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(pieces))


def list_words(text: str) -> list[str]:
    """The words in lower case."""
    return [word.casefold() for word in WORD.findall(text)]
