"""What a research has read. Only this can be cited: headings, links and the words round them are no evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from graph.policy import KNOWLEDGE_LABEL_CHARACTERS
from oria_runtime.db.text import clean_text

# What a person's client can open.
PUBLIC_SCHEMES = frozenset({"http", "https"})


@dataclass(frozen=True)
class Evidence:
    """A text that was read. `url` is where a reader finds it, "" for what has no public address."""

    id: str
    title: str
    heading: str
    url: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """As models read it."""
        return {"evidence_id": self.id, "title": self.title, "heading": self.heading, "text": self.text}

    def as_source(self) -> dict[str, str]:
        """As the person sees it beside the answer."""
        return {"title": self.title, "url": self.url}


class Ledger:
    """The evidence of one research, in the order of reading. The same text keeps its id."""

    def __init__(self) -> None:
        self._by_key: dict[object, Evidence] = {}

    def add(
        self, key: object, *, title: str | None, heading: Sequence[str], location: str, anchor: str | None, text: str
    ) -> Evidence:
        """The evidence under this key, new or known."""
        known = self._by_key.get(key)
        if known is None:
            known = Evidence(
                id=f"e{len(self._by_key) + 1}",
                title=name_document(title, location),
                heading=shorten_label(" › ".join(heading)),
                url=write_url(location, anchor),
                text=clean_text(text),
            )
            self._by_key[key] = known
        return known

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)


def name_document(title: str | None, location: str) -> str:
    """The title, or the last part of the path where there is none."""
    parts = urlsplit(location)
    return shorten_label(title or "") or shorten_label(
        unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
    )


def write_url(location: str, anchor: str | None) -> str:
    """The address with its anchor; a bucket's key is nothing that a person could open, or should see."""
    if urlsplit(location).scheme not in PUBLIC_SCHEMES:
        return ""
    return clean_text(f"{location}#{anchor}" if anchor else location)


def shorten_label(text: str) -> str:
    """A title or heading on one line, in its bound."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= KNOWLEDGE_LABEL_CHARACTERS else f"{line[: KNOWLEDGE_LABEL_CHARACTERS - 1]}…"
