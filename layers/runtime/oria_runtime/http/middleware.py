"""What surrounds every request: its id, safe headers, and the answer to an exception that nobody expected."""

from typing import Any
from uuid import uuid4

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oria_runtime.http.problems import create_problem
from oria_runtime.http.reporting import report_failure


class RequestMiddleware:
    """Gives each request an id and answers unexpected exceptions with a bare 500.

    Starlette's own last resort raises again after it has answered, and Mangum would then log messages and locals.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = find_request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                add_headers(message, request_id)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except Exception as error:
            report_failure(error, scope, 500)
            if started:
                raise
            await create_problem(error, request_id=request_id)(scope, receive, send_with_headers)


def find_request_id(scope: Scope) -> str:
    """API Gateway's id of the request, so that its access log and ours agree; a fresh one elsewhere."""
    event: dict[str, Any] = scope.get("aws.event") or {}
    return str(event.get("requestContext", {}).get("requestId") or uuid4())


def add_headers(message: Message, request_id: str) -> None:
    """Headers of every answer: nothing here may be cached by anybody between us and the person."""
    headers = MutableHeaders(scope=message)
    headers["X-Request-Id"] = request_id
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Cache-Control", "no-store")
