"""MCP end to end: the official client over HTTP, the gateway, the stream function, real stage workers.

What is replaced: the provider's answers.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import mcp_types as types
import pytest
import pytest_asyncio
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from oria_runtime.db.pool import create_pool
from tests.support.database import create_tenant
from tests.support.oria_cloud import STAGE_FUNCTIONS, OriaCloud, start_oria_cloud
from tests.support.oria_engine import CAREER_CHAT, GATE, PROFILE_TOOL, SUPERVISOR
from tests.support.scripted_model import call, choose, say, serve_scripted_model, wait

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

# Both generations of the protocol: with the initialize handshake, and with a probe and self-contained requests.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
LONG_SECONDS = 32.0
# Twice the heartbeat would be too late: what stands between cuts a silent connection at 20 s here.
SILENCE_SECONDS = 20.0


@dataclass
class Steps:
    """What a progress callback was told."""

    told: list[tuple[float, str | None]] = field(default_factory=list)

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, message))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def oria(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OriaCloud]:
    async with (
        serve_scripted_model() as script,
        start_oria_cloud(
            tmp_path_factory.mktemp("mcp"), script, prewarm=[*STAGE_FUNCTIONS, "StreamFunction"], base_path="/career"
        ) as cloud,
    ):
        yield cloud


@asynccontextmanager
async def connect(
    oria: OriaCloud, mode: str = "legacy", *, user: str = "ana", tenant: str | None = None, **claims: Any
) -> AsyncIterator[Client]:
    """The official client as a person of the tenant."""
    token = oria.cloud.token(user, tenant or str(oria.tenant_id), **claims)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=SILENCE_SECONDS) as http:
        transport = streamable_http_client(f"{oria.cloud.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
async def test_a_conversation_of_two_calls(oria: OriaCloud, mode: str) -> None:
    oria.script.reset()
    oria.script.on(label=CAREER_CHAT).reply(say("You are Ana."), say("Yes, still."))
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL).reply(call(PROFILE_TOOL, need_basic_info=True), say("-"))
    steps = Steps()
    async with connect(oria, mode) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.protocol_version) == ("oria", MODES[mode])
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        first = await client.call_tool("career_chat", {"message": "Who am I?"}, progress_callback=steps)
        conversation = first.structured_content["conversation_id"]
        named = {"message": "Am I still?", "conversation_id": conversation}
        second = await client.call_tool("career_chat", named)
    assert {"career_chat", "training_finder", "talent_finder"} <= set(tools)
    assert set(first.structured_content) == set((tools["career_chat"].output_schema or {})["properties"])
    assert (text_of(first), first.structured_content["status"], first.is_error) == ("You are Ana.", "completed", False)
    assert (text_of(second), second.structured_content["conversation_id"]) == ("Yes, still.", conversation)
    assert first.structured_content["turn_id"] != second.structured_content["turn_id"]
    assert [text for _, text in oria.transcript(conversation)] == [
        "Who am I?", "You are Ana.", "Am I still?", "Yes, still.",
    ]  # fmt: skip
    told = list(dict.fromkeys(message for _, message in steps.told))
    stages = ["accepted", "gate", "specialist", PROFILE_TOOL]
    assert [message for message in told if message in stages] == stages
    assert not {"You are Ana.", "Who am I?"} & set(told)
    numbers = [number for number, _ in steps.told]
    assert numbers == sorted(set(numbers))
    assert (oria.script.count(label=GATE), oria.script.count(label=SUPERVISOR)) == (2, 0)
    assert "Who am I?" in oria.script.seen(label=CAREER_CHAT)[-1].text


async def test_a_call_of_more_than_thirty_seconds_holds_up_nobody(oria: OriaCloud) -> None:
    oria.script.reset()
    oria.script.on(label=CAREER_CHAT).reply(say("Quick."))
    oria.script.on(label=CAREER_CHAT, text="Slow question").reply(say("Slow."))
    selecting = oria.script.on(label=CAREER_CHAT, text="Slow question", tool=PROFILE_TOOL)
    selecting.reply(wait(LONG_SECONDS, say("-")))

    async def ask(mode: str, message: str) -> tuple[str, float]:
        started = time.monotonic()
        async with connect(oria, mode) as client:
            result = await client.call_tool("career_chat", {"message": message})
        return text_of(result), time.monotonic() - started

    slow = [asyncio.create_task(ask(mode, "Slow question")) for mode in MODES]
    await asyncio.sleep(2)
    quick = [await ask(mode, "Quick question") for mode in MODES]
    assert [text for text, _ in quick] == ["Quick.", "Quick."]
    assert not any(task.done() for task in slow)
    assert (await oria.call("GET", "/v1/assistants")).status_code == 200
    answers = await asyncio.gather(*slow)
    assert [text for text, _ in answers] == ["Slow.", "Slow."]
    assert all(seconds > LONG_SECONDS for _, seconds in answers)


async def test_tenants_have_their_own_tools_and_conversations(oria: OriaCloud) -> None:
    oria.script.reset()
    oria.script.on(label=CAREER_CHAT).reply(say("Hello."))
    config = json.dumps({"chatbot": {"agents": {"training_finder": {}, "career_chat": {"active": False}}}})
    async with create_pool(oria.urls.app, max_size=1) as pool:
        other = str(await create_tenant(pool, "other", config))
    async with connect(oria) as ours:
        offered = {tool.name for tool in (await ours.list_tools()).tools}
        done = await ours.call_tool("career_chat", {"message": "Hello"})
    conversation = done.structured_content["conversation_id"]
    await oria.cloud.settle()
    asked = len(oria.script.requests)
    async with connect(oria, tenant=other) as theirs:
        assert [tool.name for tool in (await theirs.list_tools()).tools] == ["training_finder"]
        with pytest.raises(MCPError, match="Unknown tool"):
            await theirs.call_tool("career_chat", {"message": "Hello"})
        named = {"message": "Hello", "conversation_id": conversation}
        foreign = await theirs.call_tool("training_finder", named)
    async with connect(oria, user="bob") as neighbour:
        same = await neighbour.call_tool("career_chat", named)
    assert "career_chat" in offered
    assert foreign.is_error
    assert text_of(foreign) == text_of(same) == "no such conversation"
    assert oria.query("select count(*) as n from oria.turns where tenant_id = %s", other) == [{"n": 0}]
    await oria.cloud.settle()
    assert len(oria.script.requests) == asked


async def test_an_expired_token_is_told_as_by_the_api(oria: OriaCloud) -> None:
    expired = int(time.time()) - 3600
    token = oria.cloud.token(oria.user, str(oria.tenant_id), exp=expired)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    here = await oria.call("POST", "/mcp", body, authorization=f"Bearer {token}")
    there = await oria.call("GET", "/v1/assistants", authorization=f"Bearer {token}")
    for answer in (here, there):
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
    assert here.json() | {"request_id": ""} == there.json() | {"request_id": ""}
    with pytest.raises(BaseExceptionGroup):
        async with connect(oria, exp=expired):
            pass


async def test_no_session_is_opened_or_ended(oria: OriaCloud) -> None:
    for method in ("GET", "DELETE"):
        answer = await oria.call(method, "/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_blocked_message_is_a_result(oria: OriaCloud) -> None:
    oria.script.reset()
    oria.script.on(label=GATE).reply(choose("block"))
    async with connect(oria) as client:
        result = await client.call_tool("career_chat", {"message": "Something"})
    assert (result.structured_content["status"], result.is_error) == ("blocked", False)
    assert text_of(result) == result.structured_content["text"] != ""
    assert oria.script.count(label=CAREER_CHAT) == 0


async def test_a_disabled_agent_is_refused_by_the_api_before_anything_runs(oria: OriaCloud) -> None:
    conversation = await oria.converse()
    path = f"/v1/conversations/{conversation}/turns"
    for agent in ("knowledge_desk", "nobody"):
        answer = await oria.call("POST", path, {"message": "Hello", "agent": agent})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/agent")
    assert oria.query("select id from oria.turns where conversation_id = %s", conversation) == []
