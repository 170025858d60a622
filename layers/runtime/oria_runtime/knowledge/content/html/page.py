"""A web page, read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.html.blocks import render
from oria_runtime.knowledge.content.html.head import read_head
from oria_runtime.knowledge.content.html.links import collect_links
from oria_runtime.knowledge.content.html.main_part import find_main_part
from oria_runtime.knowledge.content.html.sections import read_sections
from oria_runtime.knowledge.content.html.tree import copy_body
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.links import LinkList

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def parse(text: str) -> "LexborHTMLParser":
    """The tree of a page. Raises ExtractionError(`too_complex`)."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    try:
        return LexborHTMLParser(text)
    except SelectolaxError as error:
        # Whatever the text is, it has a tree by the standard: what the parser may lack is memory.
        raise ExtractionError("too_complex", "The page needs more memory than it may have.") from error


def read_fragment(text: str, links: LinkList) -> list[str]:
    """The blocks of a piece of HTML within another document, whose links are added to the document's."""
    body = copy_body(parse(text))
    collect_links(body, body, links)
    return render(body.children)


def read_page(text: str, location: str, limits: ContentLimits, *, whole: bool = False) -> Content:
    """The content of a page, neither cleaned nor bounded yet; `whole` for one that is all main part."""
    page = parse(text)
    head = read_head(page, location)
    body = copy_body(page)
    main_part = body if whole else find_main_part(body)
    links = LinkList(location, head.base, limits.links)
    if head.followed:
        collect_links(body, main_part, links)
    warnings: list[Mapping[str, Any]] = [{"code": "links_left_out", "count": links.left_out}] if links.left_out else []
    warnings += [] if head.indexed else [{"code": "noindex"}]
    warnings += [] if head.followed else [{"code": "nofollow"}]
    sections = read_sections(main_part) if head.indexed else []
    return Content(head.title, tuple(sections), links.close(), head.canonical, tuple(warnings))
