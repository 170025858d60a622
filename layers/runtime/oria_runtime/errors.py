"""The errors of Oria, by what the caller can do about them.

OriaError
├── RequestError            the caller must change the request (a 4xx at every edge)
│   ├── InvalidRequestError     400/422: `errors` says where and what
│   ├── UnauthenticatedError    401: sign in again
│   ├── ForbiddenError          403: signed in, but not allowed
│   ├── NotFoundError           404: unknown and foreign look the same
│   ├── ConflictError           409: names the turn or interaction in the way
│   └── TooLargeError           413
├── UnavailableError        try the same again later (503)
├── ConfigurationError      an operator must change something
└── StageError              inside the engine
    ├── NotClaimedError         nothing ran; the dispatch may be repeated
    ├── ClaimLostError          somebody else decided; drop everything
    └── StageFailedError        the stage ended without a result; `code` says why
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """One thing wrong with a request: a JSON pointer (RFC 6901) and what is wrong there."""

    pointer: str
    detail: str


class OriaError(Exception):
    """Root of the tree. `detail` is safe to show; causes travel as `__cause__`."""

    code = "error"
    retryable = False

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail)
        self.detail = detail


class RequestError(OriaError):
    """The request can never succeed as it is."""


class InvalidRequestError(RequestError):
    """The request has a wrong shape or value."""

    code = "invalid_request"

    def __init__(self, detail: str, errors: Sequence[Violation] = (), *, status: int = 422) -> None:
        super().__init__(detail)
        self.errors = tuple(errors)
        self.status = status


class UnauthenticatedError(RequestError):
    """No token, or one that does not verify."""

    code = "unauthenticated"


class ForbiddenError(RequestError):
    """The caller is known, but this is not theirs to do."""

    code = "forbidden"


class NotFoundError(RequestError):
    """No such thing for this caller."""

    code = "not_found"


class ConflictError(RequestError):
    """The state of the conversation forbids it now; `blocking` names what is in the way."""

    code = "conflict"

    def __init__(self, detail: str, blocking: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.blocking = dict(blocking or {})


class TooLargeError(RequestError):
    """The request is larger than its limit."""

    code = "too_large"


class UnavailableError(OriaError):
    """A dependency is not answering; the same request may succeed later."""

    code = "unavailable"
    retryable = True


class ConfigurationError(OriaError):
    """A tenant, an assistant or the deployment is configured wrongly."""

    code = "configuration"


class StageError(OriaError):
    """Raised inside the engine only."""


class NotClaimedError(StageError):
    """The stage event could not be checked against the database, and nothing ran."""

    code = "not_claimed"
    retryable = True


class ClaimLostError(StageError):
    """The row is no longer this worker's; whatever it computed must not be written."""

    code = "claim_lost"


class StageFailedError(StageError):
    """The stage ended without a usable result."""

    def __init__(self, code: str, detail: str = "", *, retryable: bool = True) -> None:
        super().__init__(detail or code)
        self.code = code
        self.retryable = retryable
