"""Fetching a location: redirects by hand, every hop checked, one deadline, bounded bytes."""

import asyncio
import ssl
from collections.abc import Callable, Collection, Container
from datetime import UTC, datetime
from functools import cache
from typing import Self
from urllib.parse import urlsplit

import httpcore2
import httpx2

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.answers import RETRY_LATER, Wanted, read_fetched, read_redirect
from oria_runtime.knowledge.fetching.exchange import Answer, Room, exchange
from oria_runtime.knowledge.fetching.media import DOCUMENT_TYPES
from oria_runtime.knowledge.fetching.network import CheckedBackend, Resolver, system_resolver
from oria_runtime.knowledge.fetching.policy import NONE, Fetched, FetchPolicy, Validators
from oria_runtime.knowledge.fetching.politeness import Politeness
from oria_runtime.knowledge.fetching.redirects import Trail, admit
from oria_runtime.knowledge.fetching.robots import Robots
from oria_runtime.knowledge.locations import Scope


def read_utc() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


@cache
def trusted_roots() -> ssl.SSLContext:
    """The system's certificates, whatever the environment says. Loaded once a process."""
    return httpx2.create_ssl_context(trust_env=False)


class Fetcher:
    """Fetches locations with one policy. It keeps connections, pauses and the rules of robots, and nothing else: no
    cookies, no credentials, no proxy of the environment. One is made for one refresh, or for the pages of one answer.

    Args:
        robots: Obey robots.txt, as a refresh does; a page that a person's question reads is no crawl.
        clock: Wall clock, for Retry-After.
        tls: Certificates to trust instead of the system's.
    """

    def __init__(
        self,
        policy: FetchPolicy,
        resolver: Resolver = system_resolver,
        *,
        robots: bool = False,
        clock: Callable[[], datetime] = read_utc,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self._politeness = Politeness(policy, clock)
        rules = Robots(policy.user_agent, self._read_rules, self._politeness.slow_down, clock)
        self._robots = rules if robots else None
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or trusted_roots(),
            # A host that holds its connections must not make another one wait: only what stays idle is counted.
            max_connections=None,
            max_keepalive_connections=policy.kept_connections,
            keepalive_expiry=policy.idle_seconds,
            network_backend=CheckedBackend(resolver, allow_loopback=policy.allow_loopback),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.aclose()

    async def fetch(
        self,
        location: str,
        *,
        scope: Scope,
        validators: Validators = NONE,
        accept_types: Collection[str] = DOCUMENT_TYPES,
        room: Room | None = None,
        known: Container[str] = (),
    ) -> Fetched:
        """What a location holds.

        Args:
            scope: Bounds the location and every hop from it.
            validators: Of the version that the caller has; sent with every hop.
            accept_types: Media types that are read; the body of any other is not.
            room: Other sizes than the policy's.
            known: Locations that the caller has read already: a redirect to one of them ends there, as not modified.

        Raises:
            FetchError: `reason` says why there is nothing.
        """
        room = room or Room(self._policy.bytes, self._policy.expanded_bytes)
        wanted = Wanted(scope, room, validators, tuple(accept_types))
        try:
            async with asyncio.timeout(self._policy.seconds) as deadline:
                return await self._follow(location, wanted, deadline, self._robots, known=known)
        except TimeoutError as error:
            raise FetchError("timeout", "The answer took longer than a fetch may.") from error

    async def _follow(
        self, url: str, wanted: Wanted, deadline: asyncio.Timeout, robots: Robots | None, *, known: Container[str] = ()
    ) -> Fetched:
        trail = Trail(self._policy.redirects)
        while True:
            location = admit(url, wanted.scope, allow_loopback=self._policy.allow_loopback)
            if trail.hops and location in known:
                return Fetched(location, trail.hops, True, NONE, "", None, b"", "")
            trail.enter(location)
            if robots:
                await robots.check(location, wanted.scope)
            await self._wait(location, deadline)
            async with exchange(self._pool, location, wanted.headers(self._policy.user_agent), self._policy) as answer:
                target = read_redirect(answer)
                if target is None:
                    self._heed(location, answer)
                    return await read_fetched(answer, location, trail.hops, wanted, self._policy.idle_seconds)
            url = trail.follow(location, target)

    async def _wait(self, location: str, deadline: asyncio.Timeout) -> None:
        """The pause that the host is owed; what is waited on purpose does not count as the server's time."""
        seconds = self._politeness.reserve(urlsplit(location).netloc)
        if seconds > 0:
            deadline.reschedule((deadline.when() or 0.0) + seconds)
            await asyncio.sleep(seconds)

    def _heed(self, location: str, answer: Answer) -> None:
        """Raises FetchError `retry_later` for an answer that asks for it."""
        if answer.status in RETRY_LATER:
            retry_at = self._politeness.stay_away(urlsplit(location).netloc, answer.headers.get("retry-after"))
            raise FetchError(
                "retry_later", "The server asks to come back later.", status=answer.status, retry_at=retry_at
            )

    async def _read_rules(self, location: str, scope: Scope) -> bytes:
        """A robots.txt. Its deadline ends before the fetch's own, which would leave nothing known for the next one."""
        wanted = Wanted(scope, Room(self._policy.robots_bytes, self._policy.robots_bytes, cut=True))
        try:
            async with asyncio.timeout(min(self._policy.first_byte_seconds, self._policy.seconds / 2)) as deadline:
                return (await self._follow(location, wanted, deadline, None)).body
        except TimeoutError as error:
            raise FetchError("timeout", "The site's rules for robots did not come in time.") from error
