"""Prints the table of tools at the end of a run that has filled cells of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from tests.support.tool_case import CELL, CLAIMS, COLUMNS

Cells = Mapping[tuple[str, str], Mapping[str, str]]


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The cells travel in the reports, also from the workers of a parallel run."""
    reports = terminalreporter.stats.get("passed", [])
    cells = gather_cells(value for report in reports for name, value in report.user_properties if name == CELL)
    if cells:
        terminalreporter.section("tools")
        for line in [*write_table(cells), "", *write_holes(cells)]:
            terminalreporter.write_line(line)


def gather_cells(found: Iterable[Sequence[str]]) -> Cells:
    """What was seen, by agent and tool, then by column; a test reports its properties once for each of its phases."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for agent, tool, column, seen in found:
        cells.setdefault((agent, tool), {})[column] = seen
    return cells


def write_table(cells: Cells) -> list[str]:
    """One line a tool; a cell that did not run or failed is "?"."""
    rows: list[tuple[str, ...]] = [("agent", "tool", *COLUMNS)]
    rows += [(agent, tool, *(seen.get(column, "?") for column in COLUMNS)) for (agent, tool), seen in cells.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def write_holes(cells: Cells) -> list[str]:
    """The holes by tool, with their reasons; they are the same for every agent."""
    from tests.support.tool_cases import ROWS

    holes = [
        f"- {tool} {CLAIMS[column]}: {hole.because}"
        for tool in dict.fromkeys(tool for _, tool in cells)
        for column in CLAIMS
        if (hole := ROWS[tool].find_hole(column))
    ]
    return ["holes, each tried:", *holes]
