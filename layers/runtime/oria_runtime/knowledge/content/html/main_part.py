"""Which part of a page is its own text."""

from collections.abc import Iterator
from typing import Final

from oria_runtime.knowledge.content.html.tree import Element, find_outermost

# A main part that a script fills later has a word or two in it.
SMALL: Final = 100
# The densest block is the innermost one that holds this much of the page's text outside links.
SHARE: Final = 0.8
BLOCKS: Final = frozenset({"div", "section", "article", "td", "center", "form"})
# A block that is mostly links is a menu, whatever its element is called, unless it says this much besides.
LINK_SHARE: Final = 0.6
LINKS: Final = frozenset({"a"})
FEW_LINKS: Final = 3
MENUS: Final = frozenset({"div", "section", "ul", "ol", "table", "td", "p"})


def find_main_part(body: Element) -> Element:
    """The element that holds the page's own text: the one named so, else the densest. Menus in the densest one become
    furniture, because there nothing else tells them from the text."""
    named = choose_named(body)
    if named is not None:
        return named
    densest = find_densest(body)
    menus = list(find_outermost(densest, is_menu))
    # A page that is all links is a table of contents: that is what it says.
    if sum(menu.length for menu in menus) < densest.length - FEW_LINKS:
        for menu in menus:
            menu.furniture = True
    return densest


def choose_named(body: Element) -> Element | None:
    """`main`, `role=main`, or the only article, where it has text; of several the longest."""
    mains = list(find_outermost(body, lambda part: part.tag == "main" or part.role() == "main"))
    articles = list(find_outermost(body, lambda part: part.tag == "article"))
    for parts in (mains, articles if len(articles) == 1 else []):
        best = max(parts, key=lambda part: part.length, default=None)
        if best is not None and best.length >= min(SMALL, body.length / 2) and best.length:
            return best
    return None


def find_densest(body: Element) -> Element:
    """The innermost block with most of the text that is not links."""
    block = body
    while True:
        enough = (block.length - block.linked) * SHARE
        inner = [child for child in open_blocks(block) if enough and child.length - child.linked >= enough]
        if not inner:
            return block
        block = inner[0]


def open_blocks(element: Element) -> Iterator[Element]:
    """The nearest blocks below an element; what only arranges them, such as a table, is looked through."""
    for child in element.elements():
        if child.tag in BLOCKS:
            yield child
        else:
            yield from open_blocks(child)


def is_menu(element: Element) -> bool:
    """Whether a block is a list of links and hardly anything else."""
    if element.tag not in MENUS or element.length - element.linked >= SMALL:
        return False
    if element.linked <= element.length * LINK_SHARE:
        return False
    return sum(1 for _ in element.find(LINKS)) > FEW_LINKS
