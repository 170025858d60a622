"""A part of a page as sections: the text under each heading, with the headings above it and a way to link there."""

import re
from collections.abc import Iterable
from typing import Final

from oria_runtime.knowledge.content.anchors import write_anchor
from oria_runtime.knowledge.content.content import Section
from oria_runtime.knowledge.content.html.blocks import Blocks, render
from oria_runtime.knowledge.content.html.tree import HEADINGS, Element
from oria_runtime.knowledge.content.outline import Outline

WORD: Final = re.compile(r"\w")


def read_sections(element: Element) -> list[Section]:
    """The sections of an element in its order."""
    reader = SectionReader()
    reader.visit_all(element.children)
    reader.flush()
    return reader.outline.close()


class SectionReader(Blocks):
    """Blocks that go into the section of the heading before them.

    The anchor of a heading is its own id, else the nearest one before it with no text between: that of the section
    which it begins, or of an `<a name>` in front of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.outline = Outline()
        self._anchor: str | None = None

    def visit_element(self, element: Element) -> None:
        """Read an element, and see what it can be linked to by."""
        self._anchor = find_anchor(element) or self._anchor
        level = find_level(element)
        if level is None:
            super().visit_element(element)
            return
        self.flush()
        title = " ".join(" ".join(render(drop_permalinks(element.children))).split())
        if title:
            own = find_anchor(element) or next(filter(None, map(find_anchor, walk(element))), None)
            self.outline.open(level, title, own or self._anchor)
            self._anchor = None

    def add(self, block: str) -> None:
        """Append a block to the section that is open."""
        if block:
            self.outline.add(block)
            self._anchor = None


def find_level(element: Element) -> int | None:
    """The level of a heading, None for what is none."""
    if element.role() == "heading":
        level = element.attributes.get("aria-level", "2")
        return int(level) if level in {"1", "2", "3", "4", "5", "6"} else 2
    return HEADINGS.get(element.tag)


def find_anchor(element: Element) -> str | None:
    """What a link to this element has after its `#`."""
    name = element.attributes.get("id") or (element.attributes.get("name") if element.tag == "a" else None)
    return write_anchor(name) if name else None


def drop_permalinks(nodes: Iterable[Element | str]) -> list[Element | str]:
    """A heading without the sign at its end that links to itself."""
    return [node for node in nodes if isinstance(node, str) or not is_permalink(node)]


def is_permalink(element: Element) -> bool:
    if element.tag != "a" or not element.attributes.get("href", "").startswith("#"):
        return False
    return not WORD.search("".join(render(element.children)))


def walk(element: Element) -> Iterable[Element]:
    """The descendants of a heading."""
    for child in element.elements():
        yield child
        yield from walk(child)
