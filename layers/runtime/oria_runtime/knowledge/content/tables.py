"""A table as lines that can be read one by one: a chunk may hold some of its rows only."""

from collections.abc import Sequence


def render_table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), caption: str = "") -> str:
    """One line for each row. Under a header each cell is named by its column."""
    lines = [caption] if caption else []
    lines += filter(None, (render_row(row, header) for row in rows))
    return "\n".join(lines)


def render_row(row: Sequence[str], header: Sequence[str]) -> str:
    """The cells of a row that say something."""
    if not any(header):
        return " | ".join(filter(None, row))
    named = zip([*header, *[""] * len(row)], row, strict=False)
    return "; ".join(f"{name}: {cell}" if name and name != cell else cell for name, cell in named if cell)
