"""Figures and the tables that show them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

GAP = "  "


@dataclass(frozen=True)
class Table:
    """What one measurement prints: cells are texts; the first column is aligned left, the others right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def render(self) -> str:
        """The table as text, without a trailing newline."""
        lines = [list(self.columns), *(list(row) for row in self.rows)]
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        rule = ["-" * width for width in widths]
        body = [_align(line, widths) for line in [lines[0], rule, *lines[1:]]]
        return "\n".join([self.title, "", *body, *(f"  {note}" for note in self.notes)])


def _align(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return GAP.join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]).rstrip()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, interpolated between neighbours.

    Raises ValueError without values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median(values: Sequence[float]) -> float:
    """The middle value. Raises StatisticsError without values."""
    return statistics.median(values)


def milliseconds(seconds: float) -> str:
    """A duration in seconds as milliseconds, with a decimal where it says something."""
    value = seconds * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms"


def kilobytes(size: float) -> str:
    return f"{size / 1024:.1f} KB"


def judge(value: float, aim: float, unit: str = "") -> str:
    """The aim beside a value that should not be above it: `≤ 5 ok`, `≤ 0.8 s MISSED`."""
    return f"≤ {aim:g}{f' {unit}' if unit else ''} {'ok' if value <= aim else 'MISSED'}"
