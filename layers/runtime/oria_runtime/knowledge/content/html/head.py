"""What a page says about itself in its head."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oria_runtime.knowledge.content.links import resolve

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True)
class Head:
    """`base` is what links are relative to, `canonical` where the page says that it lives; `indexed` and `followed` are
    False where its author asks robots not to (`<meta name=robots>`)."""

    title: str | None
    base: str
    canonical: str | None
    indexed: bool
    followed: bool


def read_head(page: "LexborHTMLParser", location: str) -> Head:
    """The head of a parsed page; misplaced elements of it count, as in browsers."""
    base = next(
        (found for href in read_all(page, "base[href]", "href") if (found := resolve(location, href))), location
    )
    canonical = next(read_all(page, "link[rel~='canonical' i][href]", "href"), None)
    directives = set(read_directives(page))
    return Head(
        title=find_title(page),
        base=base,
        canonical=resolve(base, canonical) if canonical else None,
        indexed=not directives & {"noindex", "none"},
        followed=not directives & {"nofollow", "none"},
    )


def find_title(page: "LexborHTMLParser") -> str | None:
    """The page's title: the one made for sharing has no site's name in it, then the window's, then the heading."""
    shared = read_all(page, "meta[property='og:title' i]", "content")
    written = (node.text() for node in (*page.css("head title"), *page.css("h1")))
    return next((title for text in (*shared, *written) if (title := " ".join(text.split()))), None)


def read_directives(page: "LexborHTMLParser") -> Iterator[str]:
    """What robots are asked, in lower case."""
    for content in read_all(page, "meta[name='robots' i]", "content"):
        yield from (directive.strip() for directive in content.lower().split(","))


def read_all(page: "LexborHTMLParser", selector: str, attribute: str) -> Iterator[str]:
    """The values of an attribute, those that are not empty."""
    for node in page.css(selector):
        if value := (node.attributes.get(attribute) or "").strip():
            yield value
