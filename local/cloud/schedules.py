"""The clock of EventBridge Scheduler: rate() and cron() expressions of the template, to the second and the minute."""

import asyncio
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from local.cloud.asynchronous import AsynchronousInvoker
from local.cloud.background import BackgroundTasks
from local.cloud.bus import deliver_with_retries
from local.cloud.resources import ScheduleSpec, arn

RATE = re.compile(r"rate\((\d+) (second|minute|hour|day)s?\)")
CRON = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class ScheduleError(ValueError):
    """The expression is not one that Scheduler accepts, or uses L, W or # (not supported here)."""


@dataclass(frozen=True)
class Cron:
    """A cron() expression: the allowed values per field."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    years: frozenset[int]

    def matches(self, moment: datetime) -> bool:
        """Whether the minute of `moment` is due. Days of the week count from 1, Sunday, as AWS's do."""
        return (
            moment.minute in self.minutes
            and moment.hour in self.hours
            and moment.day in self.days
            and moment.month in self.months
            and moment.isoweekday() % 7 + 1 in self.weekdays
            and moment.year in self.years
        )


def parse_rate(expression: str) -> float | None:
    """The seconds of a rate() expression, None when it is not one."""
    match = RATE.fullmatch(expression)
    return None if match is None else float(int(match[1]) * UNIT_SECONDS[match[2]])


def parse_cron(expression: str) -> Cron:
    """A cron() expression of six fields (minutes hours days months weekdays years). Raises ScheduleError."""
    match = CRON.fullmatch(expression)
    if match is None:
        raise ScheduleError(f"not a rate() or cron() expression: {expression}")
    minutes, hours, days, months, weekdays, years = match.groups()
    return Cron(
        _parse_field(minutes, range(60)),
        _parse_field(hours, range(24)),
        _parse_field(days, range(1, 32)),
        _parse_field(months, range(1, 13), MONTHS),
        _parse_field(weekdays, range(1, 8), DAYS),
        _parse_field(years, range(1970, 2200)),
    )


def _parse_field(text: str, allowed: range, names: Sequence[str] = ()) -> frozenset[int]:
    for number, name in enumerate(names, 1):
        text = text.upper().replace(name, str(number))
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        values.update(_parse_span(span, allowed, stepped=bool(step))[:: int(step or 1)])
    if not values <= set(allowed):
        raise ScheduleError(f"{text} is outside {allowed.start}-{allowed.stop - 1}")
    return frozenset(values)


def _parse_span(text: str, allowed: range, *, stepped: bool) -> range:
    if text in ("*", "?"):
        return allowed
    first, dash, last = text.partition("-")
    try:
        if dash:
            return range(int(first), int(last) + 1)
        return range(int(first), allowed.stop if stepped else int(first) + 1)
    except ValueError:
        raise ScheduleError(f"not understood in a cron field: {text}") from None


class Schedules:
    """Fires the schedules until it is closed. `rates` has seconds that replace expressions, by function (tests)."""

    def __init__(
        self, specs: Sequence[ScheduleSpec], invoker: AsynchronousInvoker, rates: Mapping[str, float] | None = None
    ) -> None:
        self._specs = specs
        self._invoker = invoker
        self._rates = rates or {}
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        for spec in self._specs:
            seconds = self._rates.get(spec.owner, parse_rate(spec.expression))
            work = (
                self._fire_on(spec, parse_cron(spec.expression)) if seconds is None else self._fire_every(spec, seconds)
            )
            self._tasks.start(work)

    async def close(self) -> None:
        await self._tasks.cancel()

    async def fire(self, spec: ScheduleSpec) -> None:
        """Deliver one occurrence now."""
        await deliver_with_retries(self._invoker, spec.target, build_scheduled_event(spec, datetime.now(UTC)))

    async def _fire_every(self, spec: ScheduleSpec, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            self._invoker.tasks.start(self.fire(spec))

    async def _fire_on(self, spec: ScheduleSpec, cron: Cron) -> None:
        while True:
            now = datetime.now(UTC)
            minute = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
            await asyncio.sleep((minute - now).total_seconds())
            if cron.matches(minute):
                self._invoker.tasks.start(self.fire(spec))


def build_scheduled_event(spec: ScheduleSpec, moment: datetime) -> dict[str, Any]:
    """The event that a schedule without an Input of its own sends."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "time": moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "resources": [arn("scheduler", f"schedule/default/{spec.name}")],
        "detail": {},
    }
