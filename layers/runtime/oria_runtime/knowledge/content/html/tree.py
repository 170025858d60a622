"""A page as a small tree of what can be seen on it.

The parser (Lexbor, by selectolax) follows the HTML standard, so a broken page has a tree too. Its nodes are copied into
plain ones once, without what nobody sees, and no deeper than DEPTH: what follows may recurse.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Browsers stop nesting at 512 (Chromium, HTMLTreeBuilder); real pages stay below 60. What is deeper becomes a sibling.
DEPTH: Final = 100
UNSEEN_TAGS: Final = (
    "script style template noscript head title meta link base svg canvas iframe frame object embed video audio map"
    " input select textarea option optgroup datalist progress meter dialog"
)
UNSEEN: Final = frozenset(UNSEEN_TAGS.split())
FURNITURE: Final = frozenset({"nav", "footer", "aside"})
ROLES: Final = "navigation banner contentinfo complementary search menu menubar toolbar tooltip dialog alertdialog"
FURNITURE_ROLES: Final = frozenset(ROLES.split())
NOT_DISPLAYED: Final = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
# A form with so much in it is the page itself: some servers put one round everything.
PAGE_TAGS: Final = frozenset({"main", "article", "h1", "h2"})
PAGE_PARAGRAPHS: Final = 3
# More than the labels of what is to be filled in.
PAGE_CHARACTERS: Final = 400


@dataclass(slots=True)
class Element:
    """An element. `furniture` is what stands on every page: menus, banners, side notes. `length` and `linked` count the
    characters of its text and of the links in it, furniture left out."""

    tag: str
    attributes: Mapping[str, str]
    furniture: bool = False
    children: "list[Element | str]" = field(default_factory=list)
    length: int = 0
    linked: int = 0

    def elements(self) -> "Iterator[Element]":
        """The child elements, furniture left out."""
        return (child for child in self.children if isinstance(child, Element) and not child.furniture)

    def find(self, tags: frozenset[str]) -> "Iterator[Element]":
        """The descendants with one of these tags, in the page's order, furniture left out."""
        for child in self.elements():
            if child.tag in tags:
                yield child
            yield from child.find(tags)

    def has(self, tags: frozenset[str]) -> bool:
        """Whether there is a descendant with one of these tags."""
        return next(self.find(tags), None) is not None

    def role(self) -> str:
        """The ARIA role that it states."""
        return self.attributes.get("role", "").lower()


def find_outermost(element: Element, test: Callable[[Element], bool]) -> Iterator[Element]:
    """The descendants that pass the test and are in no other that does, furniture left out."""
    for child in element.elements():
        if test(child):
            yield child
        else:
            yield from find_outermost(child, test)


def copy_body(page: "LexborHTMLParser") -> Element:
    """The visible body of a parsed page, measured."""
    body = Element("body", {})
    if page.body is not None:
        _copy(page.body, body, find_revealed(page))
    measure(body)
    return body


def find_revealed(page: "LexborHTMLParser") -> frozenset[str]:
    """The ids of parts that a button shows, such as an answer below its question: hidden at first, not from people."""
    controllers = page.css("[aria-controls]")
    return frozenset(name for node in controllers for name in (node.attributes["aria-controls"] or "").split())


def _copy(root: "LexborNode", body: Element, revealed: frozenset[str]) -> None:
    """Copy the nodes below `root`, in order and without recursion: the page may be of any depth."""
    path = [body]
    # How many open nodes above the current one were not copied, because the path is full.
    flattened = 0
    node = root.first_child
    while node is not None:
        copied = _copy_node(node, revealed, path)
        if copied is not None and node.first_child is not None:
            if len(path) < DEPTH:
                path.append(copied)
            else:
                flattened += 1
            node = node.first_child
            continue
        while node is not None and node.next is None:
            node = node.parent
            if node is None or node.mem_id == root.mem_id:
                return
            if flattened:
                flattened -= 1
            else:
                path.pop()
        node = node.next if node is not None else None


def _copy_node(node: "LexborNode", revealed: frozenset[str], path: list[Element]) -> Element | None:
    """Append a copy of a node; None for a text or what cannot be seen."""
    if node.is_text_node:
        path[-1].children.append(node.text_content or "")
        return None
    tag = node.tag
    if not node.is_element_node or tag is None or tag in UNSEEN:
        return None
    attributes = {name: value or "" for name, value in node.attributes.items()}
    if is_hidden(attributes, revealed) or (tag == "button" and not belongs_to_text(attributes, path)):
        return None
    inside = any(above.tag in {"main", "article"} or above.role() == "main" for above in path)
    copied = Element(tag, attributes, is_furniture(tag, attributes, inside=inside))
    path[-1].children.append(copied)
    return copied


def is_hidden(attributes: Mapping[str, str], revealed: frozenset[str]) -> bool:
    """Whether an element is not shown, nor will be by the button that controls it."""
    if attributes.get("id") in revealed:
        return False
    hidden = "hidden" in attributes and attributes["hidden"].lower() != "until-found"
    return hidden or attributes.get("aria-hidden") == "true" or bool(NOT_DISPLAYED.search(attributes.get("style", "")))


def belongs_to_text(attributes: Mapping[str, str], path: list[Element]) -> bool:
    """Whether a button is the caption of what it shows, rather than something to press."""
    return "aria-controls" in attributes or path[-1].tag in HEADINGS


def is_furniture(tag: str, attributes: Mapping[str, str], *, inside: bool) -> bool:
    """Whether an element belongs to the site rather than to the page; `inside` the main part a header is the page's."""
    if role := attributes.get("role", "").lower():
        return role in FURNITURE_ROLES
    return tag in FURNITURE or (tag == "header" and not inside)


def measure(element: Element, *, in_link: bool = False) -> None:
    """Count the characters below an element, and see which forms are furniture."""
    in_link = in_link or element.tag == "a"
    for child in element.children:
        if isinstance(child, str):
            length, linked = len(child.strip()), len(child.strip()) * in_link
        else:
            measure(child, in_link=in_link)
            length, linked = (0, 0) if child.furniture else (child.length, child.linked)
        element.length += length
        element.linked += linked
    if element.tag == "form":
        paragraphs = sum(1 for _ in element.find(frozenset({"p"})))
        is_page = element.length - element.linked >= PAGE_CHARACTERS or element.has(PAGE_TAGS)
        element.furniture = paragraphs < PAGE_PARAGRAPHS and not is_page
