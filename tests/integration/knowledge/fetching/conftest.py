"""A hostile server, names that lead to it, and a Fetcher whose patience is short."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.client import Fetcher
from oria_runtime.knowledge.fetching.network import Resolver
from oria_runtime.knowledge.fetching.policy import Fetched, FetchPolicy
from oria_runtime.knowledge.locations import Scope
from tests.support.hostile_server import HostileServer, run_hostile_server

# Small sizes, and times that are long enough for what is answered at once on a busy machine.
POLICY = FetchPolicy(
    allow_loopback=True,
    seconds=5.0,
    connect_seconds=2.0,
    first_byte_seconds=4.0,
    idle_seconds=2.0,
    bytes=2_000_000,
    expanded_bytes=4_000_000,
    delay_seconds=0.0,
)
# For what never is.
HURRIED: dict[str, Any] = {"seconds": 0.5, "connect_seconds": 0.2, "first_byte_seconds": 0.25, "idle_seconds": 0.15}


@dataclass
class Names:
    """A resolver. `answers` are what a name leads to, one answer after the other, the last one again and again."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        known = self.answers.get(host)
        if known is None:
            raise OSError("no such name")
        return known.pop(0) if len(known) > 1 else known[0]


@pytest.fixture
def server() -> Iterator[HostileServer]:
    """On 127.0.0.1."""
    with run_hostile_server() as server:
        yield server


@pytest.fixture
def names() -> Names:
    """Names that lead nowhere yet."""
    return Names()


@dataclass
class Reader:
    """One Fetcher and the scope it reads in."""

    fetcher: Fetcher
    base: str
    scope: Scope

    async def read(self, url: str, **changes: Any) -> Fetched:
        """What is at a URL, or at a path of the server."""
        location = self.base + url if url.startswith("/") else url
        return await self.fetcher.fetch(location, **{"scope": self.scope, **changes})

    async def fail(self, url: str, **changes: Any) -> FetchError:
        """Why there is nothing to read."""
        with pytest.raises(FetchError) as raised:
            await self.read(url, **changes)
        return raised.value


OpenReader = Callable[..., Reader]


@pytest.fixture
async def open_reader(server: HostileServer, names: Names) -> AsyncIterator[OpenReader]:
    """Readers of the server, and of other origins. Changes are the policy's, or arguments of the Fetcher."""
    async with AsyncExitStack() as stack:

        def make(*others: str, base: str = server.url, resolver: Resolver = names, **changes: Any) -> Reader:
            arguments = {name: changes.pop(name) for name in ("robots", "clock", "tls") if name in changes}
            fetcher = Fetcher(replace(POLICY, **changes), resolver, **arguments)
            stack.push_async_exit(fetcher)
            return Reader(fetcher, base, Scope((base, *others)))

        yield make
