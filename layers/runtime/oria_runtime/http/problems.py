"""Errors as problem details (RFC 9457): one table from exception class to answer, looked up by ancestry."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from psycopg import OperationalError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    OriaError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    Violation,
)
from oria_runtime.http import limits
from oria_runtime.http.reporting import report_failure

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
UNSAFE_CHARACTERS = re.compile("[\x00-\x1f\ud800-\udfff]")


class ProblemError(BaseModel):
    """One thing that is wrong, and where."""

    pointer: str = Field(description="JSON pointer into the body, or `/query/…`, `/header/…` for parameters.")
    detail: str


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["urn:oria:problem:not_found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such turn."])
    errors: list[ProblemError] = Field(description="What is wrong and where; empty when no part is to blame.")
    request_id: str = Field(description="Quote it when you report the problem.")
    blocking: dict[str, str] | None = Field(
        default=None, description="With 409: the `turn_id`, and the `interaction_id`, that is in the way."
    )
    reason: str | None = Field(default=None, description="Why a document cannot be taken, as a code: `no_text`, …")


# The most special class of an exception that is listed here decides. Whatever is not listed is our fault: 500.
STATUSES: Mapping[type[Exception], int] = {
    InvalidRequestError: 422,
    RequestValidationError: 422,
    UnauthenticatedError: 401,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    TooLargeError: 413,
    UnavailableError: 503,
    # The pool is exhausted, the server restarts, a statement timed out.
    OperationalError: 503,
    TimeoutError: 503,
}
# RFC 9110's names; Python's changed with 3.13, and the problem's type is made of them.
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
HANDLED: tuple[type[Exception], ...] = (HTTPException, OriaError, *STATUSES)
UNAVAILABLE_DETAIL = "A service that this needs is not answering. Try again."
INTERNAL_DETAIL = "Something went wrong here. The request id finds it in the logs."


def find_status(error: Exception) -> int:
    """The HTTP status of an exception."""
    if isinstance(error, InvalidRequestError | HTTPException):
        return error.status if isinstance(error, InvalidRequestError) else error.status_code
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


async def answer_error(request: Request, error: Exception) -> Response:
    """FastAPI's exception handler for everything that is listed."""
    status = find_status(error)
    if status >= 500:
        report_failure(error, request.scope, status)
    return create_problem(error, request_id=request.state.request_id)


def create_problem(error: Exception, *, request_id: str) -> Response:
    """The response that says what an exception means to the client."""
    status, errors = find_status(error), list(_find_violations(error))
    if isinstance(error, RequestValidationError) and any(item["loc"][0] == "path" for item in error.errors()):
        # A malformed id names nothing, like an unknown and a foreign one.
        status, errors = 404, []
    headers = dict(getattr(error, "headers", None) or {}) | _find_headers(status)
    return respond_with_problem(
        status, _find_detail(error, status), errors, request_id=request_id, headers=headers, extra=_find_extra(error)
    )


def respond_with_problem(
    status: int,
    detail: str,
    errors: Sequence[Violation] = (),
    *,
    request_id: str,
    headers: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Response:
    """A problem document. `extra` are further members."""
    title = TITLES.get(status) or HTTPStatus(status).phrase
    body = {
        "type": f"urn:oria:problem:{title.lower().replace(' ', '_')}",
        "title": title,
        "status": status,
        "detail": detail,
        "errors": [{"pointer": item.pointer, "detail": item.detail} for item in errors[: limits.REPORTED_ERRORS]],
        "request_id": request_id,
    }
    content = json.dumps(body | dict(extra or {}), ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, MEDIA_TYPE)


def make_pointer(parts: Iterable[object]) -> str:
    """A JSON pointer (RFC 6901). Parts may be a client's own keys: bounded, and safe to print."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return UNSAFE_CHARACTERS.sub("\ufffd", "".join(f"/{part}" for part in escaped))[: limits.POINTER_CHARACTERS]


def _find_violations(error: Exception) -> Iterable[Violation]:
    if isinstance(error, InvalidRequestError):
        return error.errors
    if not isinstance(error, RequestValidationError):
        return ()
    details = error.errors()[: limits.REPORTED_ERRORS]
    return [Violation(_point(item["loc"]), item["msg"].removeprefix("Value error, ")) for item in details]


def _point(location: Sequence[object]) -> str:
    return make_pointer(location[1:] if location[0] == "body" else location)


def _find_detail(error: Exception, status: int) -> str:
    if isinstance(error, OriaError) and status != 500:
        return error.detail or HTTPStatus(status).phrase
    if isinstance(error, HTTPException):
        return HTTPStatus(status).description or HTTPStatus(status).phrase
    return {
        422: "The request does not have the right shape.",
        404: "There is no such thing.",
        503: UNAVAILABLE_DETAIL,
    }.get(status, INTERNAL_DETAIL)


def _find_headers(status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": str(RETRY_SECONDS)} if status in (429, 503) else {}


def _find_extra(error: Exception) -> dict[str, Any]:
    if isinstance(error, ExtractionError):
        return {"reason": error.reason}
    return {"blocking": error.blocking} if isinstance(error, ConflictError) and error.blocking else {}
