"""Locations: URLs in one spelling, and which of them a source may read (RFC 3986, WHATWG URL)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import SplitResult, quote, unquote, urlsplit

from oria_runtime.knowledge.fetching.addresses import is_reachable, read_address

Rule = Literal["length", "characters", "scheme", "credentials", "host", "port", "address"]

LOCATION_CHARACTERS: Final = 2_000
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# Letters that a host may have once it is written in ASCII; the underscore is no host name's, but in use.
HOST: Final = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
# Blanks, controls and what browsers take for a slash: a URL that has them means different things to different readers.
FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f\\\u2028\u2029]")
ENCODED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
# What stands for itself in a path or a query; everything else is percent-encoded as UTF-8.
PATH_SAFE: Final = "/!$&'()*+,;=:@%-._~"
QUERY_SAFE: Final = PATH_SAFE + "?"
LOCAL_NAMES: Final = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")


class LocationError(ValueError):
    """A text that is no location; `rule` says which rule it breaks, `detail` says it to a person."""

    def __init__(self, rule: Rule, detail: str) -> None:
        super().__init__(detail)
        self.rule: Rule = rule
        self.detail = detail


def normalize(url: str) -> str:
    """The one spelling of a URL: without fragment, default port and dot segments, host and escapes in normal form.

    The order and the values of a query stay as they are, because they may mean something. Raises LocationError.
    """
    text = url.strip()
    if len(text) > LOCATION_CHARACTERS:
        raise LocationError("length", f"must have at most {LOCATION_CHARACTERS} characters")
    if FORBIDDEN.search(text):
        raise LocationError("characters", "must not contain blanks, control characters or backslashes")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise LocationError("port" if "ort" in str(error) else "host", "is not a URL") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise LocationError("scheme", "must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise LocationError("credentials", "must not contain a user name or password")
    origin = f"{parts.scheme}://{normalize_host(parts.hostname or '')}{format_port(parts, port)}"
    path = remove_dots(encode(parts.path, PATH_SAFE)) or "/"
    query = encode(parts.query, QUERY_SAFE)
    location = f"{origin}{path}?{query}" if query else origin + path
    # Once more, because a letter may have become twelve; an index of the database takes no longer ones.
    if len(location) > LOCATION_CHARACTERS:
        raise LocationError("length", f"must have at most {LOCATION_CHARACTERS} characters, escapes included")
    return location


def normalize_host(host: str) -> str:
    """A host in ASCII and lower case; an address in its usual spelling, whatever it was spelled like."""
    try:
        # Before addresses are looked for: to a browser the digits of all scripts are digits.
        name = host if ":" in host else write_ascii(host.removesuffix("."))
    except UnicodeError as error:
        raise LocationError("host", "has no valid host name") from error
    try:
        address = read_address(name)
    except ValueError as error:
        raise LocationError("address", "names an address that is spelled wrongly") from error
    if address is not None:
        return f"[{address}]" if address.version == 6 else str(address)
    if not HOST.fullmatch(name) or ".." in name:
        raise LocationError("host", "has no valid host name")
    return name


def write_ascii(host: str) -> str:
    """A host's name as DNS knows it (IDNA 2008, UTS 46), as browsers do: Python's own codec is of 2003 and takes straße
    for strasse, which may be somebody else's. Raises UnicodeError."""
    if host.isascii():
        return host.encode("idna").decode("ascii").lower()
    # Few hosts need its tables (20 ms).
    import idna

    return idna.encode(host, uts46=True).decode("ascii")


def format_port(parts: SplitResult, port: int | None) -> str:
    """`:port` where it is not the scheme's own."""
    if port == 0:
        raise LocationError("port", "must have a port from 1 to 65535")
    return "" if port is None or port == DEFAULT_PORTS[parts.scheme] else f":{port}"


def encode(text: str, safe: str) -> str:
    """Escapes in upper case and only where they are needed; what must be escaped is."""

    def shorten(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in UNRESERVED else match[0].upper()

    # A percent sign that begins no escape is one that somebody forgot to escape.
    escaped = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)
    return quote(ENCODED.sub(shorten, escaped), safe=safe)


def remove_dots(path: str) -> str:
    """A path without `.` and `..` (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            kept = kept[:-1] if len(kept) > 1 else kept
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def find_origin(location: str) -> str:
    """Scheme, host and port of a normalized location."""
    parts = urlsplit(location)
    return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Scope:
    """What a source may read: these origins, below these paths. No prefix means every path."""

    origins: tuple[str, ...]
    path_prefixes: tuple[str, ...] = ()

    def admits(self, location: str) -> bool:
        """Whether a normalized location is inside. Prefixes end at a segment's border: /hr does not admit /hrx."""
        if find_origin(location) not in self.origins:
            return False
        path, prefixes = urlsplit(location).path, self.path_prefixes or ("/",)
        return all(any(is_below(read(path), read(prefix)) for prefix in prefixes) for read in READINGS)


def is_below(path: str, prefix: str) -> bool:
    """Whether a path is a folder or in it."""
    folder = prefix.rstrip("/")
    return path == folder or path.startswith(folder + "/")


def decode_path(path: str) -> str:
    """A path as a server reads it that decodes it, and takes several slashes or a backslash for one, before it looks
    for the file."""
    return remove_dots(re.sub(r"[/\\]+", "/", unquote(path)))


def drop_parameters(path: str) -> str:
    """A decoded path as a server reads it to which `..;x` is `..` (RFC 3986, 3.3: parameters of a segment)."""
    return remove_dots(re.sub(";[^/]*", "", path))


# What servers take a path for. Whatever it is to one of them must be inside.
READINGS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    decode_path,
    lambda path: drop_parameters(decode_path(path)),
    lambda path: decode_path(decode_path(path)),
    lambda path: drop_parameters(decode_path(decode_path(path))),
)


def default_scope(location: str) -> Scope:
    """The origin of a normalized location, and the folder it is in."""
    folder = urlsplit(location).path.rpartition("/")[0]
    return Scope((find_origin(location),), (folder + "/",))


def is_public(location: str, *, allow_loopback: bool) -> bool:
    """Whether the host of a normalized location may be public: a name is only refused when it means this machine."""
    host = (urlsplit(location).hostname or "").strip("[]")
    address = read_address(host)
    if address is not None:
        return is_reachable(address, allow_loopback=allow_loopback)
    return allow_loopback or not (host in LOCAL_NAMES or host.endswith(".localhost"))


def is_loopback(location: str) -> bool:
    """Whether a normalized location is on this machine by its spelling."""
    return is_public(location, allow_loopback=True) and not is_public(location, allow_loopback=False)


def list_prefixes(prefixes: Sequence[str]) -> tuple[str, ...]:
    """Path prefixes in the spelling of locations. Raises LocationError."""
    return tuple(urlsplit(normalize(f"https://host{prefix}")).path for prefix in prefixes)
