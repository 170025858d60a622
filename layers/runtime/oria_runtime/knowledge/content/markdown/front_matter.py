"""The block of settings that a site generator's page begins with."""

import re
from typing import Final

FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?)(?:\A|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
TITLE: Final = re.compile(r"^title:[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
# The marks of a text over several lines (YAML 1.2, 8.1).
FOLDED: Final = re.compile(r"^[>|][+-]?\d?\s+")
ESCAPES: Final = re.compile(r"\\(.)")
COMMENT: Final = re.compile(r"\s#.*")


def take_front_matter(text: str) -> tuple[str | None, str]:
    """The title among the settings, and the text after them."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return None, text
    title = TITLE.search(found[1])
    return (read_scalar(title[1]) if title else None), text[found.end() :]


def read_scalar(written: str) -> str | None:
    """A YAML text: plain, quoted, or folded."""
    value = FOLDED.sub("", written.strip())
    if value[:1] == '"':
        return ESCAPES.sub(r"\1", value[1:].rpartition('"')[0]) or None
    if value[:1] == "'":
        return value[1:].rpartition("'")[0].replace("''", "'") or None
    return " ".join(COMMENT.sub("", value).split()) or None
