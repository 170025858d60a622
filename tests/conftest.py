"""Fixtures that every suite may use."""

pytest_plugins = ["tests.support.aws", "tests.support.database", "tests.support.tool_table"]
