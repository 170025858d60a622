"""The route class of everything that needs a caller: who is asking, then what they sent, then FastAPI's validation."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from oria_runtime.http.bodies import read_json
from oria_runtime.http.services import authenticate, find_services

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class CallerRoute(APIRoute):
    """Authenticates before it reads a body, and gives up before API Gateway does."""

    def get_route_handler(self) -> Handler:
        """FastAPI's handler with the checks in front of it."""
        handle = super().get_route_handler()
        has_body = self.body_field is not None

        async def handle_checked(request: Request) -> Response:
            async with asyncio.timeout(find_services(request).request_seconds):
                await authenticate(request)
                return await handle(await read_json(request) if has_body else request)

        return handle_checked
