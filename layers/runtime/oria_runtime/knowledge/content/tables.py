"""A table as lines that can be read one by one: a chunk may hold some of its rows only."""

from collections.abc import Sequence
from typing import Final

from oria_runtime.documents.readers import check_length
from oria_runtime.knowledge.content.limits import ContentLimits

LIMITS: Final = ContentLimits()


def render_table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), caption: str = "") -> str:
    """One line for each row. Under a header each cell is named by its column. Raises
    ExtractionError(`too_many_characters`)."""
    lines = [caption] if caption else []
    length = 0
    for row in rows:
        line = render_row(row, header)
        length += len(line)
        # At once: what stands in every row may be most of the document.
        check_length(length, LIMITS)
        lines += [line] if line else []
    return "\n".join(lines)


def render_row(row: Sequence[str], header: Sequence[str]) -> str:
    """The cells of a row that say something."""
    if not any(header):
        return " | ".join(filter(None, row))
    named = zip([*header, *[""] * len(row)], row, strict=False)
    return "; ".join(f"{name}: {cell}" if name and name != cell else cell for name, cell in named if cell)
