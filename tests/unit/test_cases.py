"""docs/cases.md names a test that exists for every row, or says why the row does not apply."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
DOCUMENT = TESTS.parent / "docs" / "cases.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$", re.MULTILINE)
REFERENCE = re.compile(r"`([\w/]+\.py)::(\w+)`")
# The rows of the parts that there are: state, interrupts, tools, HTTP, knowledge, and the owner check.
EXPECTED = [
    1, 2, 3, 4, 6, 7, 8, 10, 11, 13, 14, 16, 18, 20, 21, 22, 24, 26, 27, 28, 29, 30, 32, 33, 35, 36, 37, 39,
    40, 41, 42, 43, 44, 45, 47, 48, 69, 70, 71, 73, 74, 76, 78, 80, 81,
]  # fmt: skip

rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))


def test_every_row_is_there_in_order() -> None:
    assert [int(number) for number, *_ in rows] == EXPECTED


@pytest.mark.parametrize(("number", "behaviour", "tests"), [(row[0], row[2], row[3]) for row in rows])
def test_a_row_has_existing_tests_or_a_reason(number: str, behaviour: str, tests: str) -> None:
    references = REFERENCE.findall(tests)
    if behaviour.startswith("does not apply: "):
        assert not references
        return
    assert references, f"row {number} names no test"
    for path, name in references:
        assert name in list_tests(TESTS / path), f"row {number}: {path}::{name} does not exist"


@cache
def list_tests(path: Path) -> frozenset[str]:
    """The names of a file's test functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_"))
