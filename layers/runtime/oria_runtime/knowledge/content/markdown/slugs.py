"""Anchors as GitHub makes them out of headings."""

import re
import unicodedata
from collections import Counter
from typing import Final

from oria_runtime.knowledge.content.anchors import write_anchor

DROPPED: Final = re.compile(r"[^\w\- ]")


class Slugs:
    """The anchors of one document: the second of a name gets the number 1."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def make(self, heading: str) -> str | None:
        """The anchor of the next heading; None for one of signs only."""
        slug = DROPPED.sub("", unicodedata.normalize("NFC", heading).strip().lower()).replace(" ", "-")
        if not slug:
            return None
        count = self._seen[slug]
        self._seen[slug] += 1
        return write_anchor(f"{slug}-{count}" if count else slug)
