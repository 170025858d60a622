"""API Gateway's REST API over real HTTP: an ASGI application that turns requests into invocations."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from local.cloud.function import Function, PayloadTooLargeError, ThrottledError
from local.cloud.proxy_events import (
    BadAnswerError,
    HttpRequest,
    HttpResponse,
    build_proxy_event,
    build_request_context,
    read_proxy_response,
)
from local.cloud.resources import ApiSpec, GatewayResponse
from local.cloud.routing import Match, Router
from local.cloud.web_adapter import AdapterError, WebAdapter

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY_LIMIT_BYTES = 10 * 1024 * 1024
# Answers that have no body and no length of one (RFC 9110, section 8.6).
NO_CONTENT = frozenset({204, 304})

# AWS's own answers by gateway response type; a template may word them otherwise.
OWN_RESPONSES = {
    "MISSING_AUTHENTICATION_TOKEN": (403, "Missing Authentication Token"),
    "REQUEST_TOO_LARGE": (413, "Request Too Long"),
    "THROTTLED": (429, "Too Many Requests"),
    "INTEGRATION_FAILURE": (502, "Internal server error"),
    "INTEGRATION_TIMEOUT": (504, "Endpoint request timed out"),
}


class LocalPages(Protocol):
    """Pages of the local cloud itself, such as the issuer's keys."""

    def answer(self, path: str) -> HttpResponse | None:
        """The page at a path, None when there is none."""


class Gateway:
    """The REST API in front of the functions. `base_path` is what a custom domain or the stage puts before routes."""

    def __init__(
        self,
        api: ApiSpec,
        functions: Mapping[str, Function],
        adapters: Mapping[str, WebAdapter],
        pages: LocalPages,
        *,
        base_path: str = "",
    ) -> None:
        self._api = api
        self._router = Router(api.routes)
        self._functions = functions
        self._adapters = adapters
        self._pages = pages
        self._base_path = base_path
        self._late: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = _read_head(scope)
        try:
            request = replace(request, body=await _read_body(receive))
        except PayloadTooLargeError:
            await _send_whole(send, self._own_response("REQUEST_TOO_LARGE", request))
        except ConnectionAbortedError:
            return
        else:
            await self._answer(request, receive, send)

    async def _answer(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        page = self._pages.answer(request.path) if request.method == "GET" else None
        if page is not None:
            await _send_whole(send, page)
            return
        inner = self._strip_base_path(request)
        match = None if inner is None else self._router.find(inner.method, inner.path)
        if inner is None or match is None:
            await _send_whole(send, self._own_response("MISSING_AUTHENTICATION_TOKEN", request))
        elif match.route.streaming:
            await self._stream(inner, match, receive, send)
        else:
            await _send_whole(send, await self._invoke(inner, match))

    def _strip_base_path(self, request: HttpRequest) -> HttpRequest | None:
        if not self._base_path:
            return request
        path = request.path.removeprefix(self._base_path)
        return replace(request, path=path) if path != request.path and path[:1] in ("", "/") else None

    async def _invoke(self, request: HttpRequest, match: Match) -> HttpResponse:
        event = build_proxy_event(request, match.route, match.parameters, self._api, self._base_path)
        work = asyncio.ensure_future(self._functions[match.route.function].invoke(event))
        self._late.add(work)
        work.add_done_callback(self._late.discard)
        # Not cancelled when the gateway gives up: the function goes on, as on AWS.
        await asyncio.wait({work}, timeout=match.route.seconds)
        if not work.done():
            return self._own_response("INTEGRATION_TIMEOUT", request)
        try:
            result = work.result()
            if result.function_error is not None:
                return self._own_response("INTEGRATION_FAILURE", request)
            return read_proxy_response(result.payload)
        except ThrottledError:
            return self._own_response("THROTTLED", request)
        except PayloadTooLargeError:
            return self._own_response("REQUEST_TOO_LARGE", request)
        except BadAnswerError:
            return self._own_response("INTEGRATION_FAILURE", request)

    async def _stream(self, request: HttpRequest, match: Match, receive: Receive, send: Send) -> None:
        adapter = self._adapters[match.route.function]
        context = json.dumps(build_request_context(request, match.route, self._api, self._base_path))
        try:
            async with asyncio.timeout(min(match.route.seconds, adapter.spec.timeout)):
                await _run_until_gone(self._copy(adapter, request, context, send), receive)
        except ThrottledError:
            await _send_whole(send, self._own_response("THROTTLED", request))
        except AdapterError:
            await _send_whole(send, self._own_response("INTEGRATION_FAILURE", request))
        except TimeoutError:
            # The function was killed at its timeout; what had been sent stands, and the connection ends.
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _copy(self, adapter: WebAdapter, request: HttpRequest, context: str, send: Send) -> None:
        async with adapter.stream(request, context) as answer:
            await send({"type": "http.response.start", "status": answer.status, "headers": _encode(answer.headers)})
            async for chunk in answer.body:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _own_response(self, kind: str, request: HttpRequest) -> HttpResponse:
        status, message = OWN_RESPONSES[kind]
        worded = self._api.responses.get(kind, GatewayResponse(status))
        body = worded.body or json.dumps({"message": message})
        headers = {"Content-Type": "application/json", "x-amzn-RequestId": request.request_id, **worded.headers}
        return HttpResponse(
            worded.status, tuple(headers.items()), body.replace("$context.requestId", request.request_id).encode()
        )


def _read_head(scope: Scope) -> HttpRequest:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    client = scope.get("client") or ("127.0.0.1", 0)
    return HttpRequest(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        source_ip=client[0],
        request_id=str(uuid.uuid4()),
    )


async def _read_body(receive: Receive) -> bytes:
    """The whole body. Raises PayloadTooLargeError over the limit, ConnectionAbortedError when the client has gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT_BYTES:
            raise PayloadTooLargeError
        if not message.get("more_body", False):
            return bytes(body)


async def _run_until_gone(work: Any, receive: Receive) -> None:
    """Run `work`, and end it when the client has gone."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
    finally:
        for pending in (task, gone):
            pending.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _encode(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _send_whole(send: Send, response: HttpResponse) -> None:
    headers = [*response.headers]
    if response.status not in NO_CONTENT:
        headers.append(("Content-Length", str(len(response.body))))
    await send({"type": "http.response.start", "status": response.status, "headers": _encode(headers)})
    await send({"type": "http.response.body", "body": response.body})
