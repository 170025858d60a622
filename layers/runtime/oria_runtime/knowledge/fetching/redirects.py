"""Where a fetch may go: its start and every hop, by one rule."""

from urllib.parse import urljoin, urlsplit

from oria_runtime.knowledge.errors import FetchError, FetchReason
from oria_runtime.knowledge.fetching.addresses import is_reachable
from oria_runtime.knowledge.fetching.network import read_host
from oria_runtime.knowledge.locations import LocationError, Rule, Scope, normalize

# The rules of locations that a fetch has a reason for; a location that breaks another one is outside of every scope.
RULES: dict[Rule, FetchReason] = {
    "scheme": "scheme",
    "credentials": "credentials",
    "port": "port",
    "address": "address",
    "host": "unresolved",
}
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def admit(url: str, scope: Scope, *, allow_loopback: bool) -> str:
    """The normalized location of a URL that may be fetched.

    An address that is spelled out is judged before the scope, because that is the reason worth showing; the addresses
    of names are judged where the connection is made. A scope lists origins with their scheme, so https never becomes
    http unless the scope says so itself.

    Raises:
        FetchError: `scheme`, `credentials`, `port`, `address`, `outside`.
    """
    try:
        location = normalize(url)
    except LocationError as error:
        raise explain_location(error) from error
    address = read_host(urlsplit(location).hostname or "")
    if address is not None and not is_reachable(address, allow_loopback=allow_loopback):
        raise FetchError("address", "The address is not on the public internet.")
    if not scope.admits(location):
        raise FetchError("outside", "The location is outside what the source may read.")
    return location


def explain_location(error: LocationError) -> FetchError:
    """The failure of a URL that is no location."""
    return FetchError(RULES.get(error.rule, "outside"), f"The location {error.detail}.")


class Trail:
    """The hops of one fetch."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: list[str] = []

    @property
    def hops(self) -> tuple[str, ...]:
        """The locations that redirected, in their order."""
        return tuple(self._seen)

    def follow(self, location: str, target: str) -> str:
        """The URL that `location` redirects to. Raises FetchError `redirects`: too many, or a place twice."""
        self._seen.append(location)
        if len(self._seen) > self._most:
            raise FetchError("redirects", f"The location redirects more than {self._most} times.")
        return resolve(location, target)

    def enter(self, location: str) -> None:
        """Raises FetchError `redirects` for a location that this fetch comes from."""
        if location in self._seen:
            raise FetchError("redirects", "The location redirects in a circle.")


def resolve(location: str, target: str) -> str:
    """A Location header against the location it came from; servers send it in UTF-8 although headers are Latin-1."""
    try:
        text = target.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        text = target
    try:
        return urljoin(location, text.strip())
    except ValueError as error:
        raise FetchError("redirects", "The location redirects to what is no location.") from error
