"""What ends a refresh before its last document."""

from oria_runtime.errors import OriaError


class RefreshError(OriaError):
    """Root of this package's errors."""


class LeaseLostError(RefreshError):
    """The source is another worker's, disabled or deleted: nothing may be written."""

    code = "lease_lost"


class IndexSwitchedError(RefreshError):
    """Another index became active while vectors were made: they must be made for it too."""

    code = "index_switched"
    retryable = True


class RefreshFailedError(RefreshError):
    """The refresh ends as failed; `reason` and the safe `detail` are what an administrator reads."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
