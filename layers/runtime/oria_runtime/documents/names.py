"""Names of documents: what a person sees, what a path holds, what a model says."""

import unicodedata
from typing import Final

from oria_runtime.documents.limits import NAME_CHARACTERS
from oria_runtime.errors import InvalidRequestError, Violation

# Controls, and marks without a shape, such as those that turn the reading direction: a name must not look like another
# one (Unicode TR 36, 3.4). Persian and some emoji are written with joiners.
REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS: Final = frozenset("\u200c\u200d")
SEPARATORS: Final = frozenset("/\\")


def normalize_name(name: str) -> str:
    """The name as it is stored: composed (NFC), because some systems send the same letters decomposed."""
    return unicodedata.normalize("NFC", name)


def check_name(name: str) -> str:
    """The normalized name of a new document. Raises InvalidRequestError."""
    name = normalize_name(name)
    if reason := find_fault(name):
        raise InvalidRequestError("The document's name cannot be used.", [Violation("/path/name", reason)])
    return name


def find_fault(name: str) -> str | None:
    """What is wrong with a name, if anything."""
    if not 0 < len(name) <= NAME_CHARACTERS:
        return f"must have 1 to {NAME_CHARACTERS} characters"
    if set(name) & SEPARATORS or name in {".", ".."}:
        return "must not be or contain a path"
    if any(unicodedata.category(letter) in REFUSED_CATEGORIES for letter in set(name) - JOINERS):
        return "has characters that cannot be seen"
    return None if name == name.strip() else "must not begin or end with white space"
