"""Schedule expressions."""

from datetime import UTC, datetime

import pytest

from local.cloud.schedules import ScheduleError, parse_cron, parse_rate

MONDAY_NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "seconds"), [("rate(1 minute)", 60), ("rate(2 hours)", 7200), ("cron(0 12 * * ? *)", None)]
)
def test_rates_are_seconds(expression: str, seconds: float | None) -> None:
    assert parse_rate(expression) == seconds


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("cron(0 12 * * ? *)", True),
        ("cron(0/15 8-18 ? * MON-FRI *)", True),
        ("cron(0 12 ? NOV,DEC 2 2026)", True),
        ("cron(0 12 1 * ? *)", False),
        ("cron(30 12 * * ? *)", False),
        ("cron(0 12 ? * SUN *)", False),
    ],
)
def test_cron_expressions_match_minutes(expression: str, due: bool) -> None:
    assert parse_cron(expression).matches(MONDAY_NOON) is due


@pytest.mark.parametrize("expression", ["cron(0 12 * *)", "cron(61 12 * * ? *)", "cron(0 12 L * ? *)", "daily"])
def test_other_expressions_are_refused(expression: str) -> None:
    with pytest.raises(ScheduleError):
        parse_cron(expression)
