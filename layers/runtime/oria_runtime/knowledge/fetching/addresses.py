"""Which addresses may be connected to, in whatever spelling they come.

An address is public when IANA's special-purpose registries (RFC 6890 and its updates) call it globally reachable. What
they say nothing about, and what carries an IPv4 address inside, is judged here.
"""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

# Addresses that answer from inside a cloud or a network although `is_global` does not refuse them on every Python:
# multicast, the relay anycast of 6to4 (RFC 7526), IETF assignments, and the host agent of Azure.
_REFUSED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
# Only this block is assigned as global unicast; inside it, what is not a host of the public internet.
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")
)
_LOOPBACK_V4 = IPv4Network("127.0.0.0/8")
_LOOPBACK_V6 = IPv6Address("::1")

_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
# The interface identifier of ISATAP (RFC 5214), which ends in the IPv4 address of the host behind it.
_ISATAP = (0x00005EFE, 0x02005EFE)

# `inet_aton` and WHATWG read one to four numbers, each decimal, octal (0…) or hexadecimal (0x…); the last one fills up.
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_MOST_PARTS = 4
_LONGEST_NUMBER = 64


def read_address(host: str) -> Address | None:
    """The address that `host` spells, however it spells it; None for a name.

    Args:
        host: As in a URL, brackets of an IPv6 literal included or not. A last part that is a number makes it an address
            and never a name (WHATWG URL, "ends in a number").

    Raises:
        ValueError: It is meant as an address and is none.
    """
    text = host.removeprefix("[").removesuffix("]").removesuffix(".")
    if ":" in text:
        return IPv6Address(text)
    parts = text.split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    return _read_v4(parts)


def _read_v4(parts: list[str]) -> IPv4Address:
    if len(parts) > _MOST_PARTS or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError("not an IPv4 address")
    *heads, tail = (_read_number(part) for part in parts)
    room = 256 ** (_MOST_PARTS - len(heads))
    if any(head > 255 for head in heads) or tail >= room:
        raise ValueError("a number of the IPv4 address is too large")
    value = tail
    for place, head in enumerate(heads):
        value += head << (8 * (3 - place))
    return IPv4Address(value)


def _read_number(part: str) -> int:
    if len(part) > _LONGEST_NUMBER:
        raise ValueError("a number of the IPv4 address is too long")
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") else int(part)


def is_reachable(address: Address, *, allow_loopback: bool = False) -> bool:
    """Whether a fetch may connect there: a public unicast address that leads to nothing else.

    Args:
        allow_loopback: Lets 127.0.0.0/8 and ::1 through as well, in their plain form only.
    """
    if isinstance(address, IPv4Address):
        return _is_public_v4(address) or (allow_loopback and address in _LOOPBACK_V4)
    if address == _LOOPBACK_V6 and address.scope_id is None:
        return allow_loopback
    return _is_public_v6(address) and all(_is_public_v4(inner) for inner in _embedded(address))


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not any(address in network for network in _REFUSED_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if address in _MAPPED or address in _NAT64:
        return True
    if address not in _GLOBAL_V6 or any(address in network for network in _REFUSED_V6):
        return False
    # Python calls all of 6to4 private since 3.13 and none of it before; here the address inside decides.
    return address in _6TO4 or address.is_global


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a packet to this address may be sent on to."""
    value = int(address)
    low = IPv4Address(value & 0xFFFFFFFF)
    if address in _MAPPED or address in _NAT64:
        yield low
    if address in _6TO4:
        yield IPv4Address(value >> 80 & 0xFFFFFFFF)
    if value >> 32 & 0xFFFFFFFF in _ISATAP:
        yield low
