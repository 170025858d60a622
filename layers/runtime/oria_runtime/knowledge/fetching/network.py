"""Connecting to addresses that were checked, and to no others.

httpcore2 hands its backend a name and would have it resolved once more by the one who connects. Here the name is
resolved once, everything it resolves to is checked, and the connection goes to an address out of exactly that answer: a
name server that answers differently the next time is not asked a next time. TLS goes on verifying the name.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from ipaddress import ip_address
from typing import Any

import httpcore2

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.addresses import Address, is_reachable, read_address

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

# Of one answer. More addresses than this are tried by nobody, and each costs its share of the time to connect.
MOST_ADDRESSES = 4
# A refresh looks up one name at a time, a question's pages a few.
MOST_LOOKUPS = 8


@cache
def resolver_threads() -> ThreadPoolExecutor:
    """Threads of their own: a look-up that nobody answers holds its thread although the fetch has given up, and must
    not take one from those who read and cut documents."""
    return ThreadPoolExecutor(MOST_LOOKUPS, "resolver")


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses of a name by the system's resolver. Raises OSError (`socket.gaierror`) when it has none."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(resolver_threads(), ask)
    return [str(entry[4][0]) for entry in found]


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """The network of a Fetcher."""

    def __init__(self, resolver: Resolver, *, allow_loopback: bool) -> None:
        self._resolver = resolver
        self._allow_loopback = allow_loopback
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore2's interface)
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to a checked address of `host`, the first that takes it.

        Raises:
            FetchError: `address`, `unresolved`, `timeout`.
            httpcore2.ConnectError: No address takes the connection.
        """
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve(host, port)
                return await self._connect(addresses, port, timeout, local_address, socket_options)
        except TimeoutError as error:
            raise FetchError("timeout", "The server did not take the connection in time.") from error

    async def _connect(
        self, addresses: Sequence[Address], port: int, seconds: float | None, *rest: Any
    ) -> httpcore2.AsyncNetworkStream:
        share = seconds and seconds / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(str(address), port, share, *rest)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(str(addresses[-1]), port, seconds, *rest)

    async def _resolve(self, host: str, port: int) -> Sequence[Address]:
        spelled = read_host(host)
        addresses = [spelled] if spelled else await self._ask(host, port)
        if not all(is_reachable(address, allow_loopback=self._allow_loopback) for address in addresses):
            raise FetchError("address", "The name leads to an address that is not on the public internet.")
        return addresses[:MOST_ADDRESSES]

    async def _ask(self, host: str, port: int) -> list[Address]:
        try:
            found = await self._resolver(host, port)
        # UnicodeError: the codec of names refuses labels that are empty or longer than 63 characters.
        except (OSError, UnicodeError) as error:
            raise FetchError("unresolved", "The name of the server has no address.") from error
        if not found:
            raise FetchError("unresolved", "The name of the server has no address.")
        return [ip_address(text) for text in dict.fromkeys(found)]


def read_host(host: str) -> Address | None:
    """The address that a URL's host spells, None for a name. Raises FetchError `address` for a broken spelling."""
    try:
        return read_address(host)
    except ValueError as error:
        raise FetchError("address", "The address of the server is not spelled as one.") from error
