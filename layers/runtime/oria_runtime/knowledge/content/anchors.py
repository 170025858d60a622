"""Names of places in a document, as they stand after the `#` of an address."""

from typing import Final
from urllib.parse import quote

# What stands in a fragment unescaped (RFC 3986, 3.5), the percent sign left out.
FRAGMENT: Final = "!$&'()*+,;=:@/?-._~"
CHARACTERS: Final = 200


def write_anchor(name: str) -> str | None:
    """The fragment for a name; None for one that HTML allows no id to have, or that is longer than any sensible one."""
    if not name or len(name) > CHARACTERS or name.split() != [name]:
        return None
    return quote(name, safe=FRAGMENT)
