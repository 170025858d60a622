"""Answers that cite: a schema with a list of ids, of records in the data, is filled from the records close enough.

A record is as close as its closest piece with its title: pieces of this length told questions that a handbook answers
from unrelated ones (`evals/knowledge*.ndjson`: at NEAR 95 % of the first and 6 % of the second pass), single sentences
did not. The answer is the sentences of the close pieces that are closest to the question, as they are written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence
from local.offline_model.phrases import TEXTS, Language, detect_language
from local.offline_model.schema_fields import Field, resolve
from local.offline_model.sentences import split_sentences, unique

# The similarity from which a piece is about the question, and what a piece may lie behind the closest one.
NEAR: Final = 0.28
BEHIND: Final = 0.05
PIECE: Final = 700
PIECES: Final = 3
SENTENCES: Final = 4
# What is shorter is a heading or a label.
WORDS: Final = 4
LABEL: Final = 200
NEGATIVE: Final = re.compile(r"miss|nothing|none|unknown|unsupported|unanswered|(?:^|_)no(?:t|_|$)|insufficient", re.I)


@dataclass(frozen=True)
class Piece:
    """A part of a record's text with the record's id and its labels (title, heading)."""

    record_id: str
    labels: str
    text: str

    @property
    def compared(self) -> str:
        return f"{self.labels}\n{self.text}"


class Citer:
    """Fills such schemas for one question."""

    def __init__(self, embedder: Embedder, evidence: Evidence, language: Language) -> None:
        self._embedder = embedder
        self._question = evidence.request
        self._records = list(walk_records(evidence.data))
        self._language = language

    def fill(self, field: Field) -> dict[str, Any] | None:
        """The instance of an object schema, or None when it is no schema of this kind."""
        parts = {name: resolve(part, field.root) for name, part in field.schema.get("properties", {}).items()}
        cited = next((name for name, part in parts.items() if self._find_ids(part, field)), None)
        if cited is None or not any(has_status(part) for part in parts.values()):
            return None
        pieces = self._find_close(set(self._find_ids(parts[cited], field)))
        answer = self._write(pieces)
        filled: dict[str, Any] = {cited: list(dict.fromkeys(piece.record_id for piece, _ in answer))}
        for name, part in parts.items():
            if "enum" in part:
                filled[name] = pick_status(part["enum"], found=bool(answer))
            elif part.get("type") == "string":
                filled[name] = self._join([sentence for _, sentence in answer])
        return {name: filled[name] for name in parts if name in filled}

    def _find_ids(self, part: Mapping[str, Any], field: Field) -> list[str]:
        """The ids of records that a list may hold."""
        if part.get("type") != "array":
            return []
        allowed = resolve(part.get("items", {}), field.root).get("enum", ())
        known = {record_id for record in self._records for record_id in record.values() if isinstance(record_id, str)}
        return [value for value in allowed if value in known]

    def _find_close(self, ids: set[str]) -> list[Piece]:
        """The pieces about the question, closest first; none when even the closest is not."""
        pieces = unique_pieces(piece for record in self._records for piece in cut_record(record, ids))
        if not pieces:
            return []
        scores = self._embedder.similarities([self._question], [piece.compared for piece in pieces])[0]
        order = sorted(range(len(pieces)), key=lambda index: -float(scores[index]))[:PIECES]
        least = max(NEAR, float(scores[order[0]]) - BEHIND)
        return [pieces[index] for index in order if scores[index] >= least]

    def _write(self, pieces: Sequence[Piece]) -> list[tuple[Piece, str]]:
        """The sentences closest to the question with their pieces, in the order of the pieces and of their texts."""
        said = [(piece, sentence) for piece in pieces for sentence in split_sentences(piece.text)]
        said = [(piece, sentence) for piece, sentence in said if states(sentence)] or said
        if not said:
            return []
        scores = self._embedder.similarities([self._question], [sentence for _, sentence in said])[0]
        best = sorted(range(len(said)), key=lambda index: -float(scores[index]))[:SENTENCES]
        return [said[index] for index in sorted(best)]

    def _join(self, sentences: Sequence[str]) -> str:
        """The sentences as a list, under a line in the person's language where theirs is another."""
        lines = [f"- {sentence}" for sentence in unique(sentences)] if len(sentences) > 1 else list(sentences)
        if lines and detect_language(" ".join(sentences)) != self._language:
            lines.insert(0, TEXTS["found"][self._language])
        return "\n".join(lines)


def has_status(part: Mapping[str, Any]) -> bool:
    """Whether a field can say that there is an answer, or none."""
    return len({bool(NEGATIVE.search(str(value))) for value in part.get("enum", ())}) > 1


def states(sentence: str) -> bool:
    """Whether a sentence says something itself: no label, no question, no announcement of a list."""
    return len(sentence.split()) >= WORDS and sentence.rstrip()[-1:] not in {"?", ":"}


def pick_status(values: Sequence[Any], *, found: bool) -> Any:
    """The value of an enum that says whether there is an answer."""
    return next((value for value in values if bool(NEGATIVE.search(str(value))) != found), values[0])


def walk_records(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in JSON data."""
    if isinstance(value, Mapping):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from walk_records(inner)


def cut_record(record: Mapping[str, Any], ids: set[str]) -> Iterator[Piece]:
    """The pieces of a record that has one of the ids: its longest text is what it says, short texts are its labels."""
    own = next((value for value in record.values() if isinstance(value, str) and value in ids), None)
    texts = [value for value in record.values() if isinstance(value, str) and value.strip() and value != own]
    if own is None or not texts:
        return
    body = max(texts, key=len)
    labels = " > ".join(text for text in texts if text != body and len(text) <= LABEL)
    for text in cut_text(body):
        yield Piece(own, labels, text)


def cut_text(text: str) -> Iterator[str]:
    """Whole lines up to the length of a piece."""
    part = ""
    for line in filter(None, (line.strip() for line in text.split("\n"))):
        if part and len(part) + len(line) > PIECE:
            yield part
            part = ""
        part = f"{part}\n{line}" if part else line
    if part:
        yield part


def unique_pieces(pieces: Iterator[Piece]) -> list[Piece]:
    return list(dict.fromkeys(pieces))
