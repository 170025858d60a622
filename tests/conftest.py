"""Fixtures that every suite may use."""

import pytest

pytest.register_assert_rewrite(
    "tests.support.tool_cancellation", "tests.support.tool_columns", "tests.support.tool_run"
)

pytest_plugins = [
    "tests.support.aws",
    "tests.support.database",
    "tests.support.tool_fixtures",
    "tests.support.tool_table",
]
