"""Directions that import-linter cannot see, because it knows external packages by their first name only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENDOR_PERSISTENCE = ("langgraph.checkpoint.postgres", "langgraph.store.postgres")
ALLOWED = {"layers/runtime/oria_runtime/turns", "layers/runtime/oria_runtime/db"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def product_files() -> list[Path]:
    return sorted(path for top in ("layers/runtime", "graph", "functions") for path in (ROOT / top).rglob("*.py"))


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_engine_imports_langgraphs_postgres_packages(path: Path) -> None:
    inside = str(path.parent.relative_to(ROOT))
    if inside not in ALLOWED:
        assert not [name for name in imported(path) if name.startswith(VENDOR_PERSISTENCE)]
