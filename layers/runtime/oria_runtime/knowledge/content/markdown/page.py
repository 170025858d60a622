"""A Markdown document, read."""

import re
from typing import Final

from oria_runtime.documents.readers import check_length, check_text
from oria_runtime.knowledge.content.anchors import write_anchor
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.harmless import is_harmless
from oria_runtime.knowledge.content.html.page import read_fragment
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.links import LinkList
from oria_runtime.knowledge.content.markdown.blocks import Block, read_blocks
from oria_runtime.knowledge.content.markdown.front_matter import take_front_matter
from oria_runtime.knowledge.content.markdown.inline import normalize_label, read_inline
from oria_runtime.knowledge.content.markdown.slugs import Slugs
from oria_runtime.knowledge.content.markdown.templates import cut_between, drop_templates
from oria_runtime.knowledge.content.outline import Outline
from oria_runtime.knowledge.content.plain import tidy
from oria_runtime.knowledge.content.tables import render_table

COMMENT, END_COMMENT = re.compile(r"<!--"), re.compile(r"-->")
DEFINITION: Final = re.compile(r"^ {0,3}\[([^\[\]]+)\]:[ \t]*<?([^\s<>]+)>?.*\n?", re.MULTILINE)
OWN_ANCHOR: Final = re.compile(r"\{#([^\s{}]+)\}$")

# How much longer a document may be than what it says.
MARKED_UP: Final = 2


def read_markdown(text: str, location: str, limits: ContentLimits) -> Content:
    """The content of a document, neither cleaned nor bounded yet. Raises ExtractionError: `not_text`,
    `too_many_characters`."""
    # Before anything that takes time: marks and addresses are never most of a document.
    check_length(len(text) // MARKED_UP, limits)
    check_text(text)
    title, text = take_front_matter(re.sub(r"\r\n?", "\n", text).removeprefix("\ufeff"))
    text = cut_between(drop_templates(text), COMMENT, END_COMMENT)
    reader = MarkdownReader(text, LinkList(location, location, limits.links))
    for block in read_blocks(DEFINITION.sub("", text)):
        reader.read(block)
    sections = reader.outline.close()
    left_out = reader.links.left_out
    warnings = ({"code": "links_left_out", "count": left_out},) if left_out else ()
    return Content(title or reader.first_heading, tuple(sections), reader.links.close(), None, warnings)


class MarkdownReader:
    """Puts blocks under their headings."""

    def __init__(self, text: str, links: LinkList) -> None:
        self.outline = Outline()
        self.links = links
        self.first_heading: str | None = None
        self._level = 7
        self._slugs = Slugs()
        self._references = {normalize_label(name): href for name, href in DEFINITION.findall(text)}

    def read(self, block: Block) -> None:
        """Read one block."""
        if block.kind == "heading":
            self._open(block)
        elif block.kind == "table":
            cells = [[self._read_text(cell) for cell in row] for row in block.rows]
            self._add(render_table(cells[1:], header=cells[0]))
        elif block.kind == "html":
            self._add(self._read_table(block.text))
        else:
            self._add(tidy(block.text) if block.kind == "code" else self._read_text(block.text))

    def _open(self, block: Block) -> None:
        own = OWN_ANCHOR.search(block.text)
        title = " ".join(self._read_text(block.text[: own.start()] if own else block.text).split())
        if not title:
            return
        # The document's name is its first heading of the highest level that it has.
        if block.level < self._level:
            self.first_heading, self._level = title, block.level
        self.outline.open(block.level, title, write_anchor(own[1]) if own else self._slugs.make(title))

    def _add(self, text: str) -> None:
        if text:
            self.outline.add(text)

    def _read_text(self, source: str) -> str:
        inline = read_inline(source, self._references)
        text = inline.text.strip()
        for href, words in inline.links:
            self.links.add(href, words, lambda: " ".join(text.split()))
        return text

    def _read_table(self, source: str) -> str:
        """A table written in HTML; one that could be costly to parse is text without its tags."""
        return "\n\n".join(read_fragment(source, self.links)) if is_harmless(source) else self._read_text(source)
