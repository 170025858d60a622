"""Whether the service can work: database, schema, bus. No authentication, and nothing secret in the answer."""

import asyncio
from collections.abc import Awaitable
from typing import Literal

from fastapi import APIRouter
from psycopg import OperationalError
from starlette.requests import Request
from starlette.responses import Response

from oria_runtime.db.pool import Pool
from oria_runtime.db.versions import fits, read_versions
from oria_runtime.errors import UnavailableError
from oria_runtime.http import limits
from oria_runtime.http.responses import HealthView
from oria_runtime.http.services import Services, find_services
from oria_runtime.observability import describe, logger

router = APIRouter(tags=["health"])

State = Literal["ok", "failing"]


@router.get(
    "/health",
    operation_id="readHealth",
    summary="Whether the service can work",
    response_model=HealthView,
    responses={503: {"model": HealthView, "description": "A part fails; `checks` says which."}},
)
async def read_health(request: Request) -> Response:
    """Checks the database, its schema version and the bus, in two seconds at most."""
    services = find_services(request)
    sandbox = services.sandbox
    asking = describe_bus(sandbox.settings.event_bus, services)
    database, bus = await asyncio.gather(check_database(sandbox.pool), run_check("bus", asking))
    checks: dict[str, State] = {**database, "bus": bus}
    failing = "failing" in checks.values()
    view = HealthView(status="failing" if failing else "ok", checks=checks)
    headers = {"Retry-After": "2"} if failing else {}
    return Response(view.model_dump_json(), 503 if failing else 200, headers, "application/json")


async def describe_bus(name: str, services: Services) -> None:
    """Ask EventBridge for the bus: a refusal is an answer, too. Raises UnavailableError when it is away or missing."""
    await asyncio.to_thread(_describe_bus, name, services)


def _describe_bus(name: str, services: Services) -> None:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        services.events.describe_event_bus(Name=name)
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        if status >= 500 or error.response["Error"]["Code"] == "ResourceNotFoundException":
            raise UnavailableError("The bus is missing or not answering.") from error
    except BotoCoreError as error:
        raise UnavailableError("The bus is not answering.") from error


async def check_database(pool: Pool) -> dict[str, State]:
    """Whether it answers, and whether its schema is the one that this release needs."""
    ready = False

    async def compare() -> None:
        nonlocal ready
        if pool.closed:
            await pool.open()
        async with pool.connection(limits.HEALTH_SECONDS) as connection:
            ready = fits(await read_versions(connection))

    state = await run_check("database", compare())
    return {"database": state, "schema": "ok" if ready else "failing"}


async def run_check(name: str, check: Awaitable[None]) -> State:
    """Await a check, bounded; the cause of a failure is for the log only."""
    try:
        async with asyncio.timeout(limits.HEALTH_SECONDS):
            await check
    except (OperationalError, UnavailableError, TimeoutError) as error:
        logger.warning("health check failed", extra={"check": name, **describe(error)})
        return "failing"
    return "ok"
