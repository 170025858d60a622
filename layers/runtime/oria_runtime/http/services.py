"""What the routes share: the sandbox, the verifier of tokens, links, and the caller of a request."""

import asyncio
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

from fastapi import Depends, Security
from fastapi.security import HTTPBearer
from starlette.requests import Request

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.documents.uploads import UploadBucket
from oria_runtime.errors import ConfigurationError, ForbiddenError, NotFoundError, UnauthenticatedError
from oria_runtime.http import limits
from oria_runtime.knowledge.files import ObjectStore
from oria_runtime.knowledge.refresh.queue import RefreshQueue
from oria_runtime.settings import TokenSettings
from oria_runtime.tenancy.identity import Identity, TokenVerifier
from oria_runtime.tenancy.tenants import Tenant, read_tenant

if TYPE_CHECKING:
    from mypy_boto3_events.client import EventBridgeClient

    from oria_runtime.sandbox import Sandbox

ADMIN_SCOPE: Final = "admin"


class Services:
    """Made once per app; nothing in it is read from the environment before a request needs it."""

    def __init__(self, sandbox: "Sandbox", request_seconds: float) -> None:
        self.sandbox = sandbox
        self.request_seconds = request_seconds

    @cached_property
    def verifier(self) -> TokenVerifier:
        return TokenVerifier(TokenSettings.from_environ(self.sandbox.environ))

    @cached_property
    def uploads(self) -> UploadBucket:
        """The bucket of large files. Raises ConfigurationError when the deployment has none."""
        name = self.sandbox.settings.uploads_bucket
        if not name:
            raise ConfigurationError("the environment variable UPLOADS_BUCKET is not set")
        return UploadBucket(name)

    @cached_property
    def knowledge_files(self) -> ObjectStore:
        """The bucket of upload sources. Raises ConfigurationError when the deployment has none."""
        name = self.sandbox.settings.knowledge_bucket
        if not name:
            raise ConfigurationError("the environment variable KNOWLEDGE_BUCKET is not set")
        return ObjectStore(name)

    @cached_property
    def refresh_queue(self) -> RefreshQueue:
        """The queue of refreshes. Raises ConfigurationError when the deployment has none."""
        url = self.sandbox.settings.refresh_queue_url
        if not url:
            raise ConfigurationError("the environment variable REFRESH_QUEUE_URL is not set")
        return RefreshQueue(url)

    @cached_property
    def events(self) -> "EventBridgeClient":
        """EventBridge with the patience of the health check."""
        import boto3
        from botocore.config import Config

        seconds = limits.HEALTH_SECONDS
        config = Config(connect_timeout=seconds, read_timeout=seconds, retries={"total_max_attempts": 1})
        return boto3.client("events", config=config)

    def link(self, *parts: object) -> str:
        """An absolute link under the configured public address. The Host header is the client's to choose, and it
        lacks the stage of API Gateway (CASES 44)."""
        return "/".join([f"{self.sandbox.settings.public_base_url}/v1", *map(str, parts)])


@dataclass(frozen=True)
class Caller:
    """Who asks, and the database as their tenant sees it. `deadline` of the request is on the loop's clock."""

    identity: Identity
    database: TenantDatabase
    services: Services
    deadline: float

    @property
    def user_id(self) -> str:
        return self.identity.user_id

    def limit_wait(self, seconds: float) -> float:
        """The part of a wait that leaves time to answer."""
        return max(0.0, min(seconds, self.deadline - asyncio.get_running_loop().time() - limits.ANSWER_SECONDS))

    async def seal_token(self, turn_id: UUID) -> bytes:
        """The caller's token, sealed for the tools of a turn."""
        sealer = self.services.sandbox.sealer
        return await sealer.seal(self.identity.token, tenant_id=self.identity.tenant_id, turn_id=turn_id)

    async def read_tenant(self) -> Tenant:
        """The caller's tenant. Raises ForbiddenError when the token names one that is not here."""
        try:
            async with self.database.transaction() as connection:
                return await read_tenant(connection, self.identity.tenant_id)
        except NotFoundError as error:
            raise ForbiddenError("The tenant of this token is not known here.") from error


def find_services(request: Request) -> Services:
    """The services of the app that handles a request."""
    services: Services = request.app.state.services
    return services


async def authenticate(request: Request) -> None:
    """Verify the bearer token and keep the caller with the request. Raises UnauthenticatedError."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise UnauthenticatedError("A bearer token is needed.")
    services = find_services(request)
    deadline = asyncio.get_running_loop().time() + services.request_seconds
    identity = await services.verifier.verify(token.strip())
    request.state.caller = Caller(identity, services.sandbox.database(identity.tenant_id), services, deadline)


bearer = HTTPBearer(bearerFormat="JWT", auto_error=False, description="A JWT with tenant and user claims.")


async def find_caller(request: Request, _: Annotated[object, Security(bearer)]) -> Caller:
    """The authenticated caller. The security scheme is only there for the OpenAPI document."""
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(find_caller)]


async def find_administrator(caller: CurrentCaller) -> Caller:
    """The caller, who administers the tenant. Raises ForbiddenError without the scope `admin`."""
    if ADMIN_SCOPE not in caller.identity.scopes:
        raise ForbiddenError(f"This needs a token with the scope {ADMIN_SCOPE}.")
    return caller


Administrator = Annotated[Caller, Depends(find_administrator)]


def parse_id(text: str, what: str) -> UUID:
    """An id of a body. A malformed one names nothing, like an unknown one: NotFoundError."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFoundError(f"There is no such {what}.") from error
