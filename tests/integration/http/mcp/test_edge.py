"""What reaches `/mcp` without the official client: who may, from where, and messages that nobody should send."""

import asyncio
import json
import time
from collections.abc import Sequence
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from mcp_types import INTERNAL_ERROR

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.http import limits
from oria_runtime.http.app import create_app
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import BASE_URL, REGISTRY, RecordingBus, connect, join_apps, make_assistant, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.mcp.conftest import as_call, find_turn, post, read_turns
from tests.integration.http.worker import complete
from tests.support.database import DatabaseUrls, execute

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL = as_call("career_chat", {"message": "Hello"})
MODERN = "2026-07-28"
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def test_no_token_a_wrong_one_and_an_expired_one_are_problems(
    address: str, issuer: Issuer, tenant: UUID, database: TenantDatabase
) -> None:
    now = int(time.time())
    for token in (None, "nonsense", issuer.token(tenant, exp=now - 600), issuer.token(tenant, aud="other")):
        answer = await post(address, CALL, token)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"] == "urn:oria:problem:unauthorized"
    assert await read_turns(database) == []


async def test_tenant_that_is_not_here_is_forbidden(address: str, issuer: Issuer) -> None:
    answer = await post(address, LIST, issuer.token(uuid4()))
    assert (answer.status_code, answer.json()["title"]) == (403, "Forbidden")


async def test_there_are_no_sessions_to_open_or_to_end(address: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    async with httpx2.AsyncClient(headers=headers) as http:
        for method in ("GET", "DELETE", "PUT", "PATCH"):
            answer = await http.request(method, f"{address}/mcp")
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "mcp-session-id" not in (await post(address, PING, token)).headers


async def test_pages_of_other_origins_are_refused(environ: dict[str, str], bus: RecordingBus, token: str) -> None:
    sandbox = Sandbox({**environ, "CORS_ORIGINS": "https://app.example.test"}, registry=REGISTRY, publisher=bus)
    async with serve(join_apps(sandbox)) as address:
        for origin in (BASE_URL.removesuffix("/prod"), "https://app.example.test"):
            assert (await post(address, PING, token, origin=origin)).status_code == 200
        for origin in ("https://evil.example", "null", "https://app.example.test.evil.example", BASE_URL):
            answer = await post(address, PING, token, origin=origin)
            assert (answer.status_code, answer.json()["title"]) == (403, "Forbidden")
        async with connect(address, None) as http:
            asked = {"Origin": "https://app.example.test", "Access-Control-Request-Method": "POST"}
            asked["Access-Control-Request-Headers"] = "authorization,mcp-protocol-version,mcp-method,mcp-name"
            preflight = await http.options(f"{address}/mcp", headers=asked)
            assert preflight.headers["access-control-allow-origin"] == "https://app.example.test"
    await sandbox.close()


async def test_larger_bodies_than_a_call_needs_are_refused(address: str, token: str, database: TenantDatabase) -> None:
    body = as_call("career_chat", {"message": "Hello", "more": "x" * limits.MCP_BODY_BYTES})
    assert (await post(address, body, token)).status_code == 413
    assert await read_turns(database) == []


async def test_longest_message_fits_however_it_is_escaped(address: str, token: str, database: TenantDatabase) -> None:
    message = "\U0001f600" * limits.MESSAGE_CHARACTERS
    calling = asyncio.create_task(post(address, as_call("career_chat", {"message": message}), token))
    await complete(database, await find_turn(database))
    assert '"status":"completed"' in (await calling).text


SURROGATE_TOKEN = json.dumps(as_call("career_chat", {"message": "Hello"}, _meta={"progressToken": "\ud800"})).encode()
MALFORMED: Sequence[object] = (
    b"",
    b"{",
    b"nonsense",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\\u0000\\ud800"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"career_chat","arguments":{"message":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
    SURROGATE_TOKEN,
    None,
    1,
    "ping",
    [],
    [PING],
    [PING, PING],
    {},
    {**PING, "jsonrpc": "1.0"},
    {**PING, "id": None},
    {**PING, "id": 1.5},
    {**PING, "id": {}},
    {**PING, "method": 7},
    {**PING, "method": "no/such"},
    {**PING, "params": []},
    {**LIST, "params": {"cursor": {}}},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    as_call("career_chat", []),
    as_call("career_chat", "message"),
    {**CALL, "params": None},
    {**CALL, "params": {"arguments": {}}},
    {**CALL, "params": {"name": {"a": 1}}},
    as_call("career_chat", {"message": "Hello"}, _meta=[]),
    as_call("nobody", {"message": "Hello"}, _meta={"progressToken": {}}),
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "x", "capabilities": 7}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}},
    {"jsonrpc": "2.0", "method": "no/such"},
    {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "debug"}},
)  # fmt: skip


@pytest.mark.parametrize("version", ["2025-11-25", MODERN, "nonsense"])
async def test_malformed_messages_are_the_clients_fault_and_run_nothing(
    address: str, token: str, database: TenantDatabase, version: str
) -> None:
    for message in MALFORMED:
        body, headers = modernise(message) if version == MODERN else (message, {})
        async with asyncio.timeout(5):
            answer = await post(address, body, token, mcp_protocol_version=version, **headers)
        assert answer.status_code < 500, (body, answer.text)
        assert '"code":-32603' not in answer.text.replace(" ", ""), (body, answer.text)
        assert "Traceback" not in answer.text
    assert await read_turns(database) == []


def modernise(message: object) -> tuple[object, dict[str, str]]:
    """The same mistake in a request that carries what the newer generation wants in `_meta` and in headers."""
    if not isinstance(message, dict):
        return message, {}
    given = message.get("params", {})
    params = {"_meta": MODERN_META} | given if isinstance(given, dict) else given
    headers = {"mcp_method": str(message.get("method"))}
    if isinstance(params, dict) and "name" in params:
        headers["mcp_name"] = str(params["name"])
    return message | {"params": params}, headers


async def test_wrong_media_types_are_refused(address: str, token: str) -> None:
    for headers in ({"content-type": "text/plain"}, {"accept": "text/html"}, {"accept": "application/json"}):
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            sent = {"accept": "*/*", "content-type": "application/json"} | headers
            answer = await http.post(f"{address}/mcp", content=b"{}", headers=sent)
        assert answer.status_code in (400, 406, 415)


async def test_cancelling_notification_is_taken_and_cancels_no_turn(
    address: str, token: str, database: TenantDatabase
) -> None:
    """Request ids are the client's own: without a session, number 1 could be anybody's."""
    calling = asyncio.create_task(post(address, CALL, token))
    turn = await find_turn(database)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert (await post(address, cancelled, token)).status_code == 202
    await asyncio.sleep(0.2)
    (row,) = await read_turns(database)
    assert (row["status"], row["cancel_requested"]) == ("accepted", False)
    await complete(database, turn)
    assert '"status":"completed"' in (await calling).text


async def test_channel_is_not_the_clients_to_choose(address: str, token: str, database: TenantDatabase) -> None:
    async with connect(address, token) as http:
        answer = await http.post("/chat", json={"message": "Hello", "channel": "mcp"})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/channel")
        await http.post("/chat", json={"message": "Hello"})
    assert [turn["request"] for turn in await read_turns(database)] == [{}]


async def test_fault_of_ours_is_told_without_its_cause(
    environ: dict[str, str], bus: RecordingBus, token: str, database: TenantDatabase
) -> None:
    broken = make_assistant("oria", stages=[])
    sandbox = Sandbox(environ, registry={"oria": broken}, publisher=bus)
    async with serve(join_apps(sandbox)) as address:
        answer = await post(address, CALL, token)
    await sandbox.close()
    assert f'"code":{INTERNAL_ERROR}' in answer.text
    assert '"retryable":false' in answer.text
    assert "IndexError" not in answer.text
    assert await read_turns(database) == []


async def test_database_that_is_away_is_a_problem_to_try_again(
    sandbox: Sandbox, token: str, database_urls: DatabaseUrls
) -> None:
    owner = database_urls.owner
    name = psycopg.conninfo.conninfo_to_dict(owner)["dbname"]
    elsewhere = psycopg.conninfo.make_conninfo(owner, dbname="postgres")
    async with serve(create_app(sandbox, stream=True, request_seconds=1.0)) as address:
        execute(elsewhere, f"alter database {name} allow_connections false")
        execute(elsewhere, f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        answer = await post(address, CALL, token)
        execute(elsewhere, f"alter database {name} allow_connections true")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
