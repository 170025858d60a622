"""Links out of a document: absolute, each once, and not more than so many."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin

from oria_runtime.knowledge.content.content import Link
from oria_runtime.knowledge.locations import LocationError, normalize

TEXT_CHARACTERS: Final = 200
CONTEXT_CHARACTERS: Final = 300


class LinkList:
    """Collects the links of the document at `location`. Links within it are left out: they are its sections."""

    def __init__(self, location: str, base: str, limit: int) -> None:
        self._base = base
        self._limit = limit
        self._own = find_own(location)
        self._links: dict[str, Link] = {}
        self._left_out: set[str] = set()

    def add(self, reference: str, text: str, find_context: Callable[[], str]) -> None:
        """Take a link, unless it leads nowhere, to this document, or to where another one leads."""
        location = None if reference.strip().startswith("#") else resolve(self._base, reference)
        if location is None or location in self._links or location == self._own:
            return
        if len(self._links) >= self._limit:
            self._left_out.add(location)
            return
        text = " ".join(text.split())[:TEXT_CHARACTERS]
        self._links[location] = Link(location, text, cut_context(find_context(), text))

    def close(self) -> tuple[Link, ...]:
        """The links in the order in which they were found."""
        return tuple(self._links.values())

    @property
    def left_out(self) -> int:
        """How many other locations there were beyond the limit."""
        return len(self._left_out)


def resolve(base: str, reference: str) -> str | None:
    """The normalized location of a reference, None where it is none that could be fetched. Blanks stand in the names of
    files that people put on an intranet; browsers escape them (WHATWG URL, path state)."""
    try:
        return normalize(urljoin(base, reference.strip().replace(" ", "%20")))
    except (LocationError, ValueError):
        return None


def find_own(location: str) -> str | None:
    """The location as links to it are spelled."""
    return resolve(location, "")


def cut_context(context: str, text: str) -> str:
    """The words round a link's own, as many before as after."""
    if len(context) <= CONTEXT_CHARACTERS:
        return context
    middle = max(context.find(text), 0) + len(text) // 2
    start = min(max(middle - CONTEXT_CHARACTERS // 2, 0), len(context) - CONTEXT_CHARACTERS)
    return context[start : start + CONTEXT_CHARACTERS].strip()
