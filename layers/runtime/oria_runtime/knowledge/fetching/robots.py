"""What a site asks of robots (RFC 9309), read once an origin and kept for the life of a Fetcher."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from protego import Protego

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.locations import Scope, find_origin

# Answers that say the site has no rules for us (2.3.1.3): everything may be read. A redirect that leads where the
# source may not go is one of them, because the rules of another place are not this one's.
_NO_RULES = frozenset({"gone", "outside", "redirects"})

_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*(.*)", re.IGNORECASE)
_SITE_WIDE = re.compile(r"(?:sitemaps?|site-map|host)\b", re.IGNORECASE)
# Rules that count. A file may have 40,000 within its bytes, and each is tried for each location: 10 microseconds.
_MOST_RULES = 5_000

# The body of a robots.txt, cut off where the policy says; raises FetchError like any fetch.
ReadRules = Callable[[str, Scope], Awaitable[bytes]]
SlowDown = Callable[[str, float], None]


@dataclass
class Site:
    """What is known of one origin: its rules (None: it has none), or why they could not be read."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    known: bool = False
    rules: Protego | None = None
    failure: FetchError | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether the time has come that the site named when it was asked for its rules."""
        retry_at = self.failure.retry_at if self.failure else None
        return retry_at is not None and retry_at <= now


class Robots:
    """The rules of the origins that one Fetcher reads."""

    def __init__(self, user_agent: str, read: ReadRules, slow_down: SlowDown, clock: Callable[[], datetime]) -> None:
        # Rules name the product, not its version (2.2.1).
        self._product = user_agent.partition("/")[0]
        self._read = read
        self._slow_down = slow_down
        self._clock = clock
        self._sites: dict[str, Site] = {}

    async def check(self, location: str, scope: Scope) -> None:
        """Raises FetchError: `robots` when the rules forbid the location; what reading them met when they could not be
        read for now (2.3.1.4: as if everything were forbidden)."""
        origin = find_origin(location)
        site = self._sites.setdefault(origin, Site())
        async with site.lock:
            if not site.known or site.is_over(self._clock()):
                await self._learn(site, origin, scope)
        if (met := site.failure) is not None:
            # One of its own for every location: an exception that is raised again collects tracebacks.
            raise FetchError(met.reason, met.detail, status=met.status, retry_at=met.retry_at) from met
        if site.rules is not None and not site.rules.can_fetch(location, self._product):
            raise FetchError("robots", "The site asks robots not to read this.")

    async def _learn(self, site: Site, origin: str, scope: Scope) -> None:
        try:
            body = await self._read(f"{origin}/robots.txt", Scope(scope.origins))
        except FetchError as error:
            site.failure = None if says_nothing(error) else error
        else:
            site.failure = None
            site.rules = Protego.parse(select_rules(body.decode("utf-8-sig", "replace"), self._product))
            delay = site.rules.crawl_delay(self._product)
            if delay is not None:
                self._slow_down(urlsplit(origin).netloc, delay)
        site.known = True


def says_nothing(error: FetchError) -> bool:
    """Whether what reading the rules met means that there are none (any other 4xx than "too many requests")."""
    return error.reason in _NO_RULES or (error.reason == "status" and 400 <= (error.status or 0) < 500)


def select_rules(text: str, product: str) -> str:
    """The groups of a robots.txt that concern us.

    protego makes every rule once for every robot that its group names: a file of 500 kB that is half names and half
    rules keeps it busy for minutes.
    """
    selected: list[str] = []
    ours = named = False
    for line in text.splitlines():
        rule = line.partition("#")[0].strip()
        agent = _AGENT.fullmatch(rule)
        if agent:
            # Names in a row begin one group together (2.2.1).
            ours, named = ours and named, True
            token = agent[1].partition("/")[0].strip().lower()
            if token in ("*", product.lower()):
                ours = True
                selected.append(f"user-agent: {token}")
        elif rule and not _SITE_WIDE.match(rule):
            named = False
            if ours:
                selected.append(rule)
        if len(selected) >= _MOST_RULES:
            break
    return "\n".join(selected)
