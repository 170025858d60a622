"""Sections in the making: a heading opens one, and closes those of its level and below."""

from typing import Final

from oria_runtime.knowledge.content.content import Section

HEADING_CHARACTERS: Final = 200


class Outline:
    """Collects the blocks of a document under its headings, in order."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._anchor: str | None = None
        self._blocks: list[str] = []
        self._sections: list[Section] = []

    def open(self, level: int, title: str, anchor: str | None) -> None:
        """Begin the section of a heading; `level` is 1 for the outermost."""
        leaf = not self._open or level <= self._open[-1][0]
        self._end(leaf=leaf)
        self._open = [(above, name) for above, name in self._open if above < level]
        self._open.append((level, title[:HEADING_CHARACTERS].strip()))
        self._anchor = anchor

    def add(self, block: str) -> None:
        """Append a block to the section that is open."""
        self._blocks.append(block)

    def close(self) -> list[Section]:
        """The sections. A heading above nothing, which some write for emphasis, is its section's text."""
        self._end(leaf=True)
        return self._sections

    def _end(self, *, leaf: bool) -> None:
        path = tuple(title for _, title in self._open)
        if not self._blocks and leaf and path:
            self._blocks.append(path[-1])
        if self._blocks:
            self._sections.append(Section(path, self._anchor, "\n\n".join(self._blocks)))
        self._blocks = []
