"""Request headers with a meaning of their own: `Prefer` (RFC 7240), `Idempotency-Key`, `Last-Event-ID`."""

import re

from oria_runtime.errors import InvalidRequestError, Violation
from oria_runtime.http import limits

WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)', re.IGNORECASE)
EVENT_ID = re.compile(r"^(-1|\d{1,9})$")


def read_wait(prefer: str | None) -> int | None:
    """The seconds of `Prefer: wait=N`, at most the limit. None without one: preferences nobody knows are ignored."""
    found = WAIT.search(prefer or "")
    return min(int(found[1]), limits.WAIT_SECONDS) if found else None


def read_idempotency_key(key: str | None, pointer: str = "/header/Idempotency-Key") -> str | None:
    """A key of printable ASCII, bounded. Raises InvalidRequestError, which says where (`pointer`)."""
    if key is None:
        return None
    if not 0 < len(key) <= limits.IDEMPOTENCY_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        detail = f"must be 1 to {limits.IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters"
        raise InvalidRequestError("The idempotency key is malformed.", [Violation(pointer, detail)], status=400)
    return key


def read_last_event_id(text: str | None) -> int:
    """The number of the last event a client has seen: 0 when absent or `-1` (what some clients send for "none").

    Raises InvalidRequestError (400) for anything else: to replay everything would show events twice, to replay nothing
    would lose them.
    """
    if not text:
        return 0
    if not EVENT_ID.match(text.strip()):
        raise InvalidRequestError(
            "The last event id is malformed.",
            [Violation("/header/Last-Event-ID", "must be the id of an event of this stream, or -1")],
            status=400,
        )
    return max(0, int(text))
