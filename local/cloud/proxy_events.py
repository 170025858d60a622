"""HTTP requests as API Gateway's proxy events (payload version 1.0), and the functions' answers as responses."""

import base64
import binascii
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from local.cloud.resources import ACCOUNT, ApiSpec, RouteSpec

API_ID = "local"


class BadAnswerError(Exception):
    """A function's answer is not a proxy response; API Gateway calls it a malformed Lambda proxy response (502)."""


@dataclass(frozen=True)
class HttpRequest:
    """A request at the gateway. `path` is still percent-encoded and has no base path; header names are as sent."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""
    source_ip: str = "127.0.0.1"
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def header(self, name: str, default: str = "") -> str:
        """The last value of a header."""
        return next((value for key, value in reversed(self.headers) if key.lower() == name.lower()), default)


@dataclass(frozen=True)
class HttpResponse:
    """An answer for the client."""

    status: int
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


def build_proxy_event(
    request: HttpRequest, route: RouteSpec, parameters: Mapping[str, str], api: ApiSpec, base_path: str = ""
) -> dict[str, Any]:
    """The event of a Lambda proxy integration. `parameters` are the values of the route's path parameters."""
    forwarded = [("X-Forwarded-For", request.source_ip), ("X-Forwarded-Proto", "http")]
    headers = _collect([*request.headers, *forwarded])
    query = _collect(parse_qsl(request.query, keep_blank_values=True))
    body, encoded = _encode_body(request, api.binary_media_types)
    return {
        "resource": route.resource,
        "path": unquote(request.path),
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": dict(parameters) or None,
        "stageVariables": None,
        "requestContext": build_request_context(request, route, api, base_path),
        "body": body,
        "isBase64Encoded": encoded,
    }


def build_request_context(request: HttpRequest, route: RouteSpec, api: ApiSpec, base_path: str) -> dict[str, Any]:
    """The request's context, which the Web Adapter hands on in a header too."""
    now = time.time()
    host = request.header("host", "127.0.0.1")
    return {
        "accountId": ACCOUNT,
        "apiId": API_ID,
        "resourceId": "local",
        "resourcePath": route.resource,
        "httpMethod": request.method,
        "path": base_path + unquote(request.path),
        "stage": api.stage,
        "protocol": "HTTP/1.1",
        "requestId": request.request_id,
        "extendedRequestId": request.request_id,
        "requestTime": datetime.fromtimestamp(now, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "requestTimeEpoch": int(now * 1000),
        "domainName": host,
        "domainPrefix": host.partition(".")[0],
        "identity": {"sourceIp": request.source_ip, "userAgent": request.header("user-agent")},
    }


def read_proxy_response(payload: bytes) -> HttpResponse:
    """The response of a proxy integration. Raises BadAnswerError when the function answered anything else."""
    try:
        answer = json.loads(payload)
        status = int(answer["statusCode"])
        body = answer.get("body")
        body = "" if body is None else body
        content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")
        return HttpResponse(status, _answer_headers(answer), content)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise BadAnswerError from error


def _answer_headers(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    several = answer.get("multiValueHeaders") or {}
    single = answer.get("headers") or {}
    headers = [(str(name), str(value)) for name, values in several.items() for value in values]
    taken = {name.lower() for name, _ in headers}
    headers += [(str(name), str(value)) for name, value in single.items() if name.lower() not in taken]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "application/json"))
    return [(name, value) for name, value in headers if name.lower() != "content-length"]


def _collect(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    collected: dict[str, list[str]] = {}
    for name, value in pairs:
        collected.setdefault(name, []).append(value)
    return collected


def _encode_body(request: HttpRequest, binary_types: Sequence[str]) -> tuple[str | None, bool]:
    if not request.body:
        return None, False
    media_type = request.header("content-type").partition(";")[0].strip()
    if any(kind in ("*/*", media_type) for kind in binary_types):
        return base64.b64encode(request.body).decode(), True
    # Without binary media types API Gateway takes every body for text and replaces what is not UTF-8.
    return request.body.decode("utf-8", "replace"), False
