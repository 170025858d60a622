"""The official client against `/mcp` over HTTP; the tests stand where the stage workers would be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from oria_runtime.db.pool import TenantDatabase
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import complete

# Both generations of the protocol: with the initialize handshake, and with self-contained requests.
both_generations = pytest.mark.parametrize("client", ["legacy", "2026-07-28"], indirect=True)
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@dataclass
class Steps:
    """The progress notifications of a call: numbers and messages."""

    told: list[tuple[float, str | None]] = field(default_factory=list)

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.told.append((progress, message))

    @property
    def messages(self) -> list[str | None]:
        return [message for _, message in self.told]


@asynccontextmanager
async def connect_mcp(address: str, token: str, mode: str = "legacy", **options: Any) -> AsyncIterator[Client]:
    """The official client with a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client


async def post(address: str, body: Any, token: str | None, **headers: str) -> httpx2.Response:
    """One message without a client; `body` may be anything."""
    authorization = {"authorization": f"Bearer {token}"} if token else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(timeout=30) as http:
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        return await http.post(
            f"{address}/mcp",
            headers={**HEADERS, "content-type": "application/json", **authorization, **named},
            **content,
        )


def as_call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    """A tools/call message."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments, **more}}


def text_of(result: types.CallToolResult) -> str:
    """The text of a result that has one."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def read_turns(database: TenantDatabase) -> Sequence[Mapping[str, Any]]:
    """Every turn of the tenant, the oldest first."""
    async with database.transaction() as connection:
        cursor = await connection.execute("select * from turns order by created_at, id")
        return await cursor.fetchall()


async def find_turn(database: TenantDatabase, count: int = 1) -> UUID:
    """The id of the newest turn once there are so many."""
    async with asyncio.timeout(10):
        while len(turns := await read_turns(database)) < count:
            await asyncio.sleep(0.02)
    found: UUID = turns[-1]["id"]
    return found


Work = Callable[[UUID], Awaitable[None]]


async def call_while(
    client: Client, database: TenantDatabase, work: Work | None = None, *, name: str = "career_chat", **options: Any
) -> types.CallToolResult:
    """Call a tool; `work` does to its turn what stage workers would do (default: completes it)."""
    before = len(await read_turns(database))
    arguments = options.pop("arguments", {"message": "Hello"})
    calling = asyncio.create_task(client.call_tool(name, arguments, **options))
    turn = await find_turn(database, before + 1)
    await (work(turn) if work else complete(database, turn))
    async with asyncio.timeout(10):
        return await calling


@pytest.fixture
def token(issuer: Issuer, tenant: UUID) -> str:
    """Ada's."""
    return issuer.token(tenant, "ada")


@pytest.fixture
async def client(request: pytest.FixtureRequest, address: str, token: str) -> AsyncIterator[Client]:
    """Ada's client. It lives in one task: a fixture is entered and left in two."""
    connected: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    leaving = asyncio.Event()

    async def hold() -> None:
        async with connect_mcp(address, token, getattr(request, "param", "legacy")) as client:
            connected.set_result(client)
            await leaving.wait()

    holding = asyncio.create_task(hold())
    waited: set[asyncio.Future[Any]] = {holding, connected}
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    yield connected.result()
    leaving.set()
    await holding
