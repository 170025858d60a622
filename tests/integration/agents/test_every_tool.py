"""Every tool of every specialist, in every way that a call can go. The rows are in tests/support/tool_cases.py.

The cells are found in the registry; the table of what they saw is printed at the end of the run with its holes.
"""

from collections.abc import Callable

import pytest

from oria_runtime.db.pool import Pool
from tests.support.scripted_model import Script
from tests.support.tool_case import CANCELLED, CELL, CLAIMS, COLUMNS, ToolCase
from tests.support.tool_cases import ROWS
from tests.support.tool_columns import CHECKS, check_hole
from tests.support.tool_registry import discover_tools
from tests.support.tool_run import ToolRun
from tests.support.tool_world import World

CELLS = [(agent, tool, column) for agent, tool in discover_tools() for column in COLUMNS]


@pytest.fixture
def run(tool_world: World, tool_script: Script, tool_pool: Pool, agent: str, tool: str) -> ToolRun:
    return ToolRun(tool_world, tool_script, tool_pool, agent, ROWS[tool])


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("agent", "tool", "column"), CELLS)
async def test_every_tool(run: ToolRun, column: str, record_property: Callable[[str, object], None]) -> None:
    hole = run.case.find_hole(column)
    seen = await (check_hole(run, column) if hole else CHECKS[column](run))
    # A hole was tried on the success of another cell, and a cancellation has had its next turn in the engine.
    if column != CANCELLED and hole is None:
        await run.assert_goes_on()
    record_property(CELL, [run.agent, run.case.tool, column, seen])


def test_every_tool_of_the_registry_has_a_row_and_every_row_a_tool() -> None:
    assert {tool for _, tool in discover_tools()} == set(ROWS)


@pytest.mark.parametrize("case", ROWS.values(), ids=list(ROWS))
def test_every_hole_has_a_reason_and_no_other_column_has_one(case: ToolCase) -> None:
    holes = {column: hole for column in COLUMNS if (hole := case.find_hole(column))}
    assert set(holes) <= set(CLAIMS)
    assert all(len(hole.because.split()) >= 4 for hole in holes.values())
