"""Cutting a document into the parts that are indexed, and naming them so that they keep their names."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.content.content import Content

if TYPE_CHECKING:
    from langchain_text_splitters.character import RecursiveCharacterTextSplitter

# Characters. A part that has the least ends before the next unit that may begin one; none has more than the most, one
# endless character aside. Measured on a handbook of 239 pages with 90 questions in three languages and the offline
# embedder: recall@5 by vector alone 0.71 (150 to 300), 0.72 (200 to 500), 0.76 (300 to 700, 300 to 800), 0.73 (400 to
# 1,000), 0.72 (600 to 1,500). Merging small sections of one parent changed nothing, so that no part crosses a section.
LEAST: Final = 300
MOST: Final = 800
CHUNKS: Final = 5_000
# After a sentence, unless what follows goes on in lower case; Chinese and Japanese have no blanks.
SENTENCE: Final = r"(?<=[.!?…؟۔।])[\"'”’»)\]]*\s+(?![a-z])|(?<=[。！？｡])[」』”’）]*"
CLAUSE: Final = r"(?<=[,;:،؛])\s+|(?<=[、，；：])"
SEPARATORS: Final = (SENTENCE, CLAUSE, r"\s+")


@dataclass(frozen=True)
class Draft:
    """A chunk before it is stored: the heading path and anchor of its section, and its text."""

    path: tuple[str, ...]
    anchor: str | None
    text: str


def split(content: Content) -> list[Draft]:
    """The chunks of a document in its order, none empty. Raises ExtractionError(`too_complex`) for too many."""
    drafts = [
        Draft(section.path, section.anchor, text) for section in content.sections for text in split_text(section.text)
    ]
    if len(drafts) > CHUNKS:
        raise ExtractionError("too_complex", f"The document has {len(drafts)} parts; at most {CHUNKS} are indexed.")
    return drafts


@dataclass(frozen=True)
class Unit:
    """What is not cut further: a paragraph, a line of a long one, a piece of a long line. `joint` is what stands
    between it and the unit before; `alone` keeps it from being joined to that one."""

    joint: str
    text: str
    alone: bool = False

    def may_begin(self) -> bool:
        """Whether a part may begin here. The text decides, about every second time, and not the place: after an
        insertion the parts soon begin where they did before, and keep their ids."""
        return self.alone or sha256(self.text.encode()).digest()[0] % 2 == 0


def split_text(text: str) -> Iterator[str]:
    """The parts of a section's text."""
    part = ""
    for unit in cut_paragraphs(text):
        is_full = len(part) + len(unit.joint) + len(unit.text) > MOST
        if part and (is_full or unit.alone or (len(part) >= LEAST and unit.may_begin())):
            yield part
            part = ""
        part += unit.joint + unit.text if part else unit.text
    if part:
        yield part


def cut_paragraphs(text: str) -> Iterator[Unit]:
    """Paragraphs whole, the long ones by their lines."""
    for paragraph in filter(str.strip, text.split("\n\n")):
        if len(paragraph) <= MOST:
            yield Unit("\n\n", paragraph)
        else:
            yield from cut_lines(paragraph)


def cut_lines(paragraph: str) -> Iterator[Unit]:
    """The lines of a paragraph, the long ones by their sentences."""
    joint = "\n\n"
    for line in filter(str.strip, paragraph.split("\n")):
        if len(line) <= MOST:
            yield Unit(joint, line)
        else:
            pieces = (part for piece in load_splitter().split_text(line) for part in cut_unbroken(piece))
            yield from (Unit("", piece, alone=True) for piece in pieces)
        joint = "\n"


def cut_unbroken(piece: str) -> Iterator[str]:
    """A piece without a place to cut it, in parts of whole characters as people see them (UAX 29)."""
    # The package has no types; tiktoken brings it.
    from regex import findall  # type: ignore[import-untyped]

    if len(piece) <= MOST:
        yield piece
        return
    part = ""
    for character in findall(r"\X", piece):
        if part and len(part) + len(character) > MOST:
            yield part
            part = ""
        part += character
    yield part


@lru_cache(maxsize=1)
def load_splitter() -> "RecursiveCharacterTextSplitter":
    from langchain_text_splitters.character import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        separators=list(SEPARATORS), is_separator_regex=True, keep_separator="end", chunk_size=MOST, chunk_overlap=0
    )


def identify(document_id: UUID, drafts: Sequence[Draft]) -> list[UUID]:
    """One id for each draft: it depends on the document, path, text and how often the same came before, not on the
    position, so that what is inserted elsewhere changes no other's id."""
    seen: Counter[str] = Counter()
    ids = []
    for draft in drafts:
        # No title or text has these signs: they separate units and records (ASCII 31 and 30).
        name = "\x1e".join(["\x1f".join(draft.path), draft.text])
        ids.append(uuid5(document_id, f"{name}\x1e{seen[name]}"))
        seen[name] += 1
    return ids


def embedded_text(title: str | None, draft: Draft) -> str:
    """What is embedded for a chunk: the headings above it, then its text. Measured as LEAST and MOST: with headings the
    first hit is right for 0.53 of the questions, without them for 0.37, though of the first five about as many are."""
    headings = [*([title] if title and title not in draft.path[:1] else []), *draft.path]
    return "\n".join([" > ".join(headings), draft.text]) if headings else draft.text
