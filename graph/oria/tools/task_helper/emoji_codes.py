"""Emoji codes of Markdown (`:memo:`) as the characters that they stand for."""

import re
from typing import Final

# Code is shown as it is written, so that a code inside it stays: fenced blocks, then spans.
CODE: Final = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
# No letter, digit or colon may touch a code: "12:30:45" and "a:b:c" have none.
NAMED: Final = re.compile(r"(?<![\w:]):[a-z0-9_+-]+:(?![\w:])", re.IGNORECASE)


def write_emojis(text: str) -> str:
    """The text with known codes replaced; unknown ones stay as they are."""
    return "".join(part if CODE.fullmatch(part) else NAMED.sub(_write_emoji, part) for part in CODE.split(text))


def _write_emoji(code: re.Match[str]) -> str:
    from emoji import emojize

    return emojize(code.group().lower(), language="alias")
