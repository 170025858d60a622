"""The API over a real server: uvicorn on a free port, real Postgres, an issuer over HTTP, a bus that records."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx2
import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from oria_runtime.db.pool import Pool
from oria_runtime.http.app import create_app
from oria_runtime.http.routes import rationale
from oria_runtime.http.routes.rationale import Explain
from oria_runtime.http.sse import Pace
from oria_runtime.publisher import BusEvent
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.assistants import AgentInfo, Approval, Assistant, Stage
from tests.integration.http.issuer import AUDIENCE, Issuer, run_issuer
from tests.support.database import DatabaseUrls, create_tenant

BASE_URL = "https://api.example.test/prod"
AGENTS = (AgentInfo("career_chat", "Career Chat", "Talks."), AgentInfo("training_finder", "Training Finder", "Finds."))
PACE = Pace(fast=0.02, lively=0.2, slow=0.05, heartbeat=0.15, cut=20.0, retry=0.5, read=1.0)


@dataclass
class RecordingBus:
    """Takes every event and remembers it."""

    events: list[BusEvent] = field(default_factory=list)

    async def publish(self, events: Sequence[BusEvent]) -> list[bool]:
        self.events += events
        return [True] * len(events)


async def approve(*_: Any) -> Approval:
    return Approval("allow")


def make_assistant(assistant_id: str, **changes: Any) -> Assistant:
    """An assistant whose stages nobody runs: these tests stand where the workers would be."""
    values: dict[str, Any] = {
        "id": assistant_id,
        "name": assistant_id.title(),
        "description": "For tests.",
        "stages": [Stage("gate", frozenset({"gate"}), 15.0), Stage("specialist", frozenset({"specialist"}), 180.0)],
        "context_schema": dict,
        "build": lambda: None,
        "graph_input": lambda _: {},
        "read_outcome": lambda _: None,
        "read_agent": lambda _: None,
        "approve": approve,
        "agents": lambda config: [agent for agent in AGENTS if config.agent(agent.id) is not None],
    }
    return Assistant(**values | changes)


REGISTRY = {
    "oria": make_assistant("oria"),
    "sealing": make_assistant("sealing", needs_token=True),
    "simulation": make_assistant("simulation", needs_simulation=True),
}


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    """One issuer for the session."""
    with run_issuer() as issuer:
        yield issuer


@pytest.fixture
def bus() -> RecordingBus:
    """What the API announced."""
    return RecordingBus()


@pytest.fixture
def environ(database_urls: DatabaseUrls, issuer: Issuer) -> dict[str, str]:
    """The environment of a function behind API Gateway's stage `prod`."""
    return {
        "DATABASE_URL": database_urls.app,
        "PUBLIC_BASE_URL": BASE_URL,
        "UPLOADS_BUCKET": "uploads",
        "KNOWLEDGE_BUCKET": "knowledge",
        "REFRESH_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/123456789012/refresh",
        "JWT_ISSUER": issuer.url,
        "JWT_AUDIENCE": AUDIENCE,
        "JWT_JWKS_URL": issuer.jwks_url,
    }


@pytest.fixture
async def sandbox(environ: dict[str, str], bus: RecordingBus) -> AsyncIterator[Sandbox]:
    """A sandbox on the test's loop."""
    sandbox = Sandbox(environ, registry=REGISTRY, publisher=bus, data_connections=8)
    yield sandbox
    await sandbox.close()


def join_apps(
    sandbox: Sandbox, pace: Pace = PACE, request_seconds: float = 20.0, explain: Explain | None = None
) -> ASGIApp:
    """The functions behind one address, as API Gateway's routes put them; the one that explains only when asked for."""
    api = create_app(sandbox, request_seconds=request_seconds)
    stream = create_app(sandbox, stream=True, pace=pace)
    explaining = create_app(sandbox, routers=[rationale.create_router(explain)]) if explain else api

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        app = stream if scope["path"].endswith(("/events", "/mcp")) else api
        app = explaining if scope["path"].startswith("/v1/trainings/") else app
        await app(scope, receive, send)

    return route


@asynccontextmanager
async def serve(app: ASGIApp) -> AsyncIterator[str]:
    """The address of an app on a free port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="critical", timeout_graceful_shutdown=2))
    serving = asyncio.create_task(server.serve([listener]))
    while not server.started:
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
async def address(sandbox: Sandbox) -> AsyncIterator[str]:
    """The API's address."""
    async with serve(join_apps(sandbox)) as address:
        yield address


@asynccontextmanager
async def connect(address: str, token: str | None) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(base_url=f"{address}/v1", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture
async def namesake(address: str, issuer: Issuer, pool: Pool) -> AsyncIterator[httpx2.AsyncClient]:
    """A person of the same user id in another tenant."""
    async with connect(address, issuer.token(await create_tenant(pool, "other"), "ada")) as client:
        yield client


@pytest.fixture
async def ada(address: str, issuer: Issuer, tenant: UUID) -> AsyncIterator[httpx2.AsyncClient]:
    """A person of the tenant."""
    async with connect(address, issuer.token(tenant, "ada")) as client:
        yield client


@pytest.fixture
async def bob(address: str, issuer: Issuer, tenant: UUID) -> AsyncIterator[httpx2.AsyncClient]:
    """Another person of the same tenant."""
    async with connect(address, issuer.token(tenant, "bob")) as client:
        yield client


@pytest.fixture
async def admin(address: str, issuer: Issuer, tenant: UUID) -> AsyncIterator[httpx2.AsyncClient]:
    """An administrator of the tenant."""
    async with connect(address, issuer.token(tenant, "grace", scope="openid admin")) as client:
        yield client
