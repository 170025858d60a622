"""Not being a burden: a pause between requests to one host, and staying away when it asks for that."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.policy import FetchPolicy

# RFC 9110, 10.2.3: digits only. More of them than this is no time that anybody means.
_MOST_DIGITS = 9


class Politeness:
    """What one Fetcher owes the hosts it asks. Pauses are on the loop's clock, absences on the wall clock."""

    def __init__(self, policy: FetchPolicy, clock: Callable[[], datetime]) -> None:
        self._policy = policy
        self._clock = clock
        self._delays: dict[str, float] = {}
        self._free_at: dict[str, float] = {}
        self._away_until: dict[str, datetime] = {}

    def slow_down(self, host: str, seconds: float) -> None:
        """The pause that a host asks for by its Crawl-delay, within the policy's bounds."""
        self._delays[host] = min(max(seconds, self._policy.delay_seconds), self._policy.most_delay_seconds)

    def reserve(self, host: str) -> float:
        """Takes the host's next turn and returns the seconds until then. Raises FetchError `retry_later`."""
        until = self._away_until.get(host)
        if until is not None and until > self._clock():
            raise FetchError("retry_later", "The server asked to be left alone for a while.", retry_at=until)
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_at.get(host, now))
        self._free_at[host] = turn + self._delays.get(host, self._policy.delay_seconds)
        return turn - now

    def stay_away(self, host: str, retry_after: str | None) -> datetime:
        """When to ask the host again after a 429 or 503, and nothing is asked of it before if it named the time."""
        now = self._clock()
        seconds = read_retry_after(retry_after or "", now)
        wait = self._policy.retry_seconds if seconds is None else seconds
        until = now + timedelta(seconds=min(max(wait, 1.0), self._policy.most_retry_seconds))
        if seconds is not None:
            self._away_until[host] = until
        return until


def read_retry_after(header: str, now: datetime) -> float | None:
    """Seconds of a Retry-After header, which is a number of them or a date of HTTP; None when it is neither."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:_MOST_DIGITS]) if len(text) <= _MOST_DIGITS else float("inf")
    try:
        at = parsedate_to_datetime(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    # OverflowError: a zone that no `timedelta` holds.
    except (ValueError, OverflowError):
        return None
