"""Reading a request body before anything believes it: size, type, encoding, syntax, depth, characters."""

import json
import re
from collections.abc import Iterator
from email.message import Message
from typing import Any

from starlette.requests import Request

from oria_runtime.errors import InvalidRequestError, TooLargeError, Violation
from oria_runtime.http import limits
from oria_runtime.http.problems import make_pointer

# Postgres stores no NUL, and no text encoding has lone surrogates; both arrive as JSON escapes.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class JsonRequest(Request):
    """A request whose JSON has been read and checked already; FastAPI validates that value."""

    checked: Any = None

    async def json(self) -> Any:
        return self.checked


async def read_json(request: Request) -> JsonRequest:
    """The request with its checked body.

    Raises TooLargeError, and InvalidRequestError with 415 for another content type, 400 for what is not JSON, 422
    for JSON that cannot be stored.
    """
    body = await read_bytes(request)
    checked = JsonRequest(request.scope, _replay(body))
    if body:
        _check_type(request)
        checked.checked = parse_json(body)
    return checked


def parse_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8, bounded in depth, without characters that no database stores."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise InvalidRequestError("The body is not UTF-8.", [Violation("", str(error.reason))], status=400) from error
    except RecursionError as error:
        raise InvalidRequestError(TOO_DEEP, status=400) from error
    except ValueError as error:
        detail = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "number"
        raise InvalidRequestError("The body is not JSON.", [Violation("", detail)], status=400) from error
    check_storable(value)
    return value


def check_storable(value: Any) -> None:
    """Refuse JSON that no database stores, or that is too deep, with InvalidRequestError."""
    violations = list(_find_unstorable(value))
    if violations:
        raise InvalidRequestError("The body has characters that cannot be stored.", violations)


TOO_DEEP = f"The body is nested more than {limits.JSON_DEPTH} levels deep."


def _find_unstorable(value: Any) -> Iterator[Violation]:
    waiting: list[tuple[tuple[object, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if len(path) > limits.JSON_DEPTH:
            raise InvalidRequestError(TOO_DEEP)
        if isinstance(item, str) and UNSTORABLE.search(item):
            yield Violation(make_pointer(path), "has a NUL character or a lone surrogate")
        elif isinstance(item, list):
            waiting.extend(((*path, index), child) for index, child in enumerate(item))
        elif isinstance(item, dict):
            waiting.extend(((*path, key), child) for key, child in item.items())
            yield from (
                Violation(make_pointer((*path, key)), "has a name with a NUL character or a lone surrogate")
                for key in item
                if UNSTORABLE.search(key)
            )


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _check_type(request: Request) -> None:
    message = Message()
    message["content-type"] = request.headers.get("content-type", "")
    kind = message.get_content_type()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise InvalidRequestError("The content type must be application/json.", status=415)


async def read_bytes(request: Request) -> bytes:
    """A body as it is, unpacked by nobody. Raises TooLargeError, InvalidRequestError (415)."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise InvalidRequestError("Encoded bodies are not accepted.", status=415)
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > limits.BODY_BYTES:
        raise TooLargeError(f"The body is larger than {limits.BODY_BYTES} bytes.")
    chunks = bytearray()
    async for chunk in request.stream():
        chunks += chunk
        if len(chunks) > limits.BODY_BYTES:
            raise TooLargeError(f"The body is larger than {limits.BODY_BYTES} bytes.")
    return bytes(chunks)


def _replay(body: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
