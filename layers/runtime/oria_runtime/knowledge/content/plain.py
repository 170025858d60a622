"""Plain text: paragraphs, nothing else."""

import re
from typing import Final

from oria_runtime.documents.readers import check_text
from oria_runtime.knowledge.content.content import Content, Section

EMPTY_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def read_plain(text: str) -> Content:
    """The text as one section. Raises ExtractionError(`not_text`)."""
    check_text(text)
    return Content(None, (Section((), None, tidy(text)),))


def tidy(text: str) -> str:
    """The text with one kind of line end, and one empty line between paragraphs."""
    return EMPTY_LINES.sub("\n\n", re.sub(r"\r\n?|\x0c", "\n", text)).strip()
