"""Why a location could not be read. Each reason has a code that clients may show their own words for."""

from datetime import datetime
from typing import Literal

from oria_runtime.errors import OriaError

FetchReason = Literal[
    "scheme",
    "credentials",
    "port",
    "address",
    "unresolved",
    "outside",
    "redirects",
    "timeout",
    "too_large",
    "too_large_expanded",
    "truncated",
    "broken_encoding",
    "tls",
    "unreachable",
    "status",
    "gone",
    "retry_later",
    "robots",
    "unsupported",
]


class FetchError(OriaError):
    """A fetch that ended without content. `detail` is safe to show: it quotes neither the location nor the answer.

    `status` is the server's where it answered, `retry_at` the moment before which it wants no other request.
    """

    code = "fetch"

    def __init__(
        self, reason: FetchReason, detail: str, *, status: int | None = None, retry_at: datetime | None = None
    ) -> None:
        super().__init__(detail)
        self.reason: FetchReason = reason
        self.status = status
        self.retry_at = retry_at
