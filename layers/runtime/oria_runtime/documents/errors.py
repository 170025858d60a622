"""Why a document cannot be taken. Each reason has a code that clients may show their own words for."""

from typing import Final, Literal

from oria_runtime.errors import InvalidRequestError, Violation

Reason = Literal[
    "empty",
    "too_large",
    "too_many_pages",
    "too_many_characters",
    "too_complex",
    "unsupported",
    "type_mismatch",
    "not_text",
    "encrypted",
    "broken",
    "no_text",
]

STATUSES: Final[dict[Reason, int]] = {
    "empty": 422,
    "too_large": 413,
    "too_many_pages": 413,
    "too_many_characters": 413,
    "too_complex": 413,
    "unsupported": 415,
    "type_mismatch": 415,
    "not_text": 415,
    "encrypted": 422,
    "broken": 422,
    "no_text": 422,
}


class ExtractionError(InvalidRequestError):
    """A document whose text cannot be had; `reason` says why, `detail` says it to a person."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail, [Violation("", f"{reason}: {detail}")], status=STATUSES[reason])
        self.reason: Reason = reason
