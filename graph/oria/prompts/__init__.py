"""Prompt texts live in the `.md` files of this folder, so that a change of wording is read as one.

A file is one text, or a text followed by `## name` sections (the choices of a question and when each applies).
"""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SECTION = "\n## "


@cache
def read_prompt(name: str) -> str:
    """The text of `<name>.md`, or what precedes its sections."""
    return _read(name).partition(SECTION)[0].strip()


def read_sections(name: str) -> dict[str, str]:
    """The sections of `<name>.md` by heading, in the file's order; each on one line."""
    _, *sections = _read(name).split(SECTION)
    split = (section.partition("\n") for section in sections)
    return {heading.strip(): " ".join(body.split()) for heading, _, body in split}


@cache
def _read(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
