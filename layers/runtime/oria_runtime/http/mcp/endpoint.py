"""`POST /mcp`: who is asking, from where, then the SDK's own transport, for this one request.

The SDK wants its session manager to live as long as the app, in a lifespan. Without sessions it holds nothing between
requests, and no lifespan runs behind the Web Adapter's freezes, so each request has a manager of its own.
"""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from oria_runtime.errors import ForbiddenError
from oria_runtime.http import limits
from oria_runtime.http.services import Caller, authenticate, find_services
from oria_runtime.http.sse import Pace
from oria_runtime.settings import Settings

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

PATH = "/mcp"


class McpEndpoint:
    """The ASGI app of `PATH`."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    @cached_property
    def server(self) -> "Server[dict[str, Any]]":
        """The protocol server; it knows nothing of any caller."""
        from oria_runtime.http.mcp.server import build_server

        return build_server(self._pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await admit(request)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(self.server, stateless=True, max_request_body_size=limits.MCP_BODY_BYTES)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def create_route(pace: Pace) -> Route:
    """The route. GET and DELETE are of sessions, and there are none: 405, as the protocol has it."""
    return Route(PATH, McpEndpoint(pace), methods=["POST"])


async def admit(request: Request) -> None:
    """Keep the caller and their tenant with the request.

    Raises UnauthenticatedError, ForbiddenError for a foreign origin or an unknown tenant.
    """
    services = find_services(request)
    check_origin(request, services.sandbox.settings)
    async with asyncio.timeout(services.request_seconds):
        await authenticate(request)
        caller: Caller = request.state.caller
        request.state.tenant = await caller.read_tenant()


def check_origin(request: Request, settings: Settings) -> None:
    """Refuse pages of other origins (DNS rebinding): only our own address and the configured web clients.

    The SDK's check would compare the Host header, too. Behind a CDN or a custom domain that is not the public name, and
    API Gateway answers under no name but its own.
    """
    origin = request.headers.get("origin")
    public = urlsplit(settings.public_base_url)
    if origin is not None and origin not in {f"{public.scheme}://{public.netloc}", *settings.cors_origins}:
        raise ForbiddenError("Requests of this origin are not accepted.")
