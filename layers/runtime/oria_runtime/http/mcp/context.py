"""Who makes a call: what the endpoint kept with the HTTP request that each message comes with."""

from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.requests import Request

from oria_runtime.http.services import Caller
from oria_runtime.tenancy.tenants import Tenant

Context = ServerRequestContext[dict[str, Any], Request]


@dataclass(frozen=True)
class Client:
    """The caller with their tenant, and the HTTP request."""

    caller: Caller
    tenant: Tenant
    request: Request

    @classmethod
    def of(cls, context: Context) -> "Client":
        """The client of a message; the transport puts the request there."""
        request = context.request
        assert request is not None  # noqa: S101 - only other transports have none
        return cls(request.state.caller, request.state.tenant, request)
