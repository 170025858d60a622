"""The links of a page: those of its main part first, then those of its menus."""

from oria_runtime.knowledge.content.html.blocks import INLINE, render_line
from oria_runtime.knowledge.content.html.tree import HEADINGS, Element
from oria_runtime.knowledge.content.links import LinkList


def collect_links(body: Element, main_part: Element, links: LinkList) -> None:
    """Take every link of a page."""
    LinkReader(links).read(main_part, main_part)
    LinkReader(links, skipped=main_part).read(body, body)


class LinkReader:
    """Reads links with what stands round them: the text of their block, else the heading above."""

    def __init__(self, links: LinkList, skipped: Element | None = None) -> None:
        self._links = links
        self._skipped = skipped
        self._heading: Element | None = None
        # A block is read once, however many links it holds.
        self._texts: dict[int, str] = {}

    def read(self, element: Element, block: Element) -> None:
        """Take the links below an element, which stands in `block`."""
        for child in element.children:
            if isinstance(child, str) or child is self._skipped:
                continue
            if child.tag in HEADINGS:
                self._heading = child
            if child.tag == "a" and "href" in child.attributes:
                self._take(child, block)
            self.read(child, block if child.tag in INLINE else child)

    def _take(self, link: Element, block: Element) -> None:
        text = render_line(link) or link.attributes.get("aria-label") or link.attributes.get("title") or ""
        self._links.add(link.attributes["href"], text, lambda: self._find_context(text, block))

    def _find_context(self, text: str, block: Element) -> str:
        around = self._read_block(block)
        if len(around) > len(text) or self._heading is None:
            return around
        return self._read_block(self._heading)

    def _read_block(self, block: Element) -> str:
        if id(block) not in self._texts:
            self._texts[id(block)] = render_line(block)
        return self._texts[id(block)]
