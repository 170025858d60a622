"""Where the documents of a source are: what it lists, and what one of its locations holds now."""

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from typing import Protocol

from oria_runtime.knowledge.documents import Document
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.client import Fetcher
from oria_runtime.knowledge.fetching.media import SITEMAP_TYPES
from oria_runtime.knowledge.fetching.policy import NONE, Fetched, Validators
from oria_runtime.knowledge.locations import LocationError, Scope, normalize
from oria_runtime.knowledge.refresh.errors import RefreshFailedError
from oria_runtime.knowledge.refresh.limits import SITEMAP_DEPTH, SITEMAPS
from oria_runtime.knowledge.refresh.sitemaps import Sitemap, SitemapError, read_sitemap
from oria_runtime.knowledge.refresh.visits import Visit

# Called between two steps of a listing that takes long: it keeps the lease.
Renew = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Listing:
    """Locations with the ETags that the listing names. `partial`: a part of it could not be read, so that a document
    that is not listed may still exist."""

    entries: Sequence[tuple[str, str | None]]
    partial: bool = False


class Place(Protocol):
    """A kind of source."""

    @property
    def has_entry(self) -> bool:
        """Whether everything is found from its one listed location, which must be there."""
        ...

    async def list(self, renew: Renew) -> Listing:
        """Where the visits begin. Raises FetchError or RefreshFailedError when the source cannot be had."""
        ...

    async def fetch(self, visit: Visit, document: Document | None, done: Container[str]) -> Fetched:
        """What is there now; `not_modified` when it is the indexed version of the document, or when it led to one of
        the locations that are `done`. Raises FetchError."""
        ...


class WebPlace:
    """Pages that link to each other, from an entry on."""

    has_entry = True

    def __init__(self, fetcher: Fetcher, location: str, scope: Scope) -> None:
        self._fetcher = fetcher
        self._location = normalize(location)
        self._scope = scope

    async def list(self, renew: Renew) -> Listing:
        await renew()
        return Listing([(self._location, None)])

    async def fetch(self, visit: Visit, document: Document | None, done: Container[str]) -> Fetched:
        validators = NONE if document is None else Validators(document.etag, document.last_modified)
        fetched = await self._fetcher.fetch(visit.location, scope=self._scope, validators=validators, known=done)
        if fetched.location in done:
            return fetched
        if fetched.not_modified and (document is None or fetched.location != document.served_from):
            # The validators are another location's: what this one says to them is an accident.
            return await self._fetcher.fetch(visit.location, scope=self._scope, known=done)
        return fetched


class SitemapPlace(WebPlace):
    """Pages that a sitemap lists."""

    has_entry = False

    async def list(self, renew: Renew) -> Listing:
        """All sitemaps that the first one leads to. Raises FetchError when the first one cannot be had,
        RefreshFailedError when it cannot be read."""
        pages: dict[str, None] = {}
        waiting, met, partial = [(self._location, 0)], {self._location}, False
        while waiting:
            location, depth = waiting.pop(0)
            await renew()
            try:
                sitemap = await self._read(location)
            except (FetchError, RefreshFailedError):
                if depth == 0:
                    raise
                partial = True
                continue
            pages |= dict.fromkeys(admit(sitemap.pages, self._scope))
            inner = [each for each in admit(sitemap.sitemaps, Scope(self._scope.origins)) if each not in met]
            taken = inner[: SITEMAPS - len(met)] if depth < SITEMAP_DEPTH else []
            partial = partial or len(taken) < len(inner)
            met.update(taken)
            waiting += [(each, depth + 1) for each in taken]
        return Listing([(page, None) for page in pages], partial)

    async def _read(self, location: str) -> Sitemap:
        # A sitemap lies at the root of its site, whatever part of it the source is about.
        scope = Scope(self._scope.origins)
        fetched = await self._fetcher.fetch(location, scope=scope, accept_types=SITEMAP_TYPES)
        try:
            return read_sitemap(fetched.body)
        except SitemapError as error:
            raise RefreshFailedError("sitemap", str(error)) from error


def admit(locations: Sequence[str], scope: Scope) -> Sequence[str]:
    """Those that are URLs of a scope, normalized, each once."""
    admitted: dict[str, None] = {}
    for location in locations:
        try:
            normal = normalize(location)
        except LocationError:
            continue
        if scope.admits(normal):
            admitted[normal] = None
    return list(admitted)
