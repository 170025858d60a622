"""tools/list and tools/call: what is offered, what runs, what comes back."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, cast
from uuid import UUID, uuid4

import boto3
import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ProgressNotification, RequestParamsMeta
from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.http.sse import Pace
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.events import append_events
from oria_runtime.turns.models import Event, EventType
from tests.integration.http.conftest import REGISTRY, RecordingBus, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.mcp.conftest import (
    Steps,
    both_generations,
    call_while,
    connect_mcp,
    find_turn,
    read_turns,
    text_of,
)
from tests.integration.http.worker import block, complete, emit, fail, lock, pause
from tests.support.database import create_tenant

CONFIG = {"chatbot": {"agents": {"training_finder": {}, "career_chat": {"active": False}}}}


async def narrow(database: TenantDatabase) -> None:
    async with database.transaction() as connection:
        await connection.execute("update tenants set config = %s", (Jsonb(CONFIG),))


async def append(database: TenantDatabase, turn: UUID, *events: Event) -> None:
    async with database.transaction() as connection:
        await lock(connection, turn)
        await append_events(connection, turn, events)


def with_key(key: Any) -> RequestParamsMeta:
    """The `_meta` of a call; an open map, which mypy does not know yet (PEP 728)."""
    return cast("RequestParamsMeta", {"oria/idempotency-key": key})


@both_generations
async def test_every_enabled_agent_is_a_tool(client: Client, database: TenantDatabase) -> None:
    tools = (await client.list_tools()).tools
    assert [(tool.name, tool.title, tool.description) for tool in tools] == [
        ("career_chat", "Career Chat", "Talks."),
        ("training_finder", "Training Finder", "Finds."),
        ("sealing.career_chat", "Career Chat", "Talks."),
        ("sealing.training_finder", "Training Finder", "Finds."),
    ]
    assert set(tools[0].input_schema["properties"]) == {"message", "conversation_id", "locale"}
    assert tools[0].input_schema["required"] == ["message"]
    assert tools[0].output_schema is not None
    assert set(tools[0].output_schema["required"]) == {
        "conversation_id", "turn_id", "status", "text", "cards", "sources",
    }  # fmt: skip
    await narrow(database)
    tools = (await client.list_tools(cache_mode="bypass")).tools
    assert [tool.name for tool in tools] == ["training_finder", "sealing.training_finder"]


@both_generations
async def test_call_is_a_turn_of_the_agent_that_may_not_pause(client: Client, database: TenantDatabase) -> None:
    result = await call_while(client, database, arguments={"message": "Bonjour à tous", "locale": "fr"})
    (turn,) = await read_turns(database)
    assert (turn["requested_agent"], turn["interactions"], turn["locale"]) == ("career_chat", False, "fr")
    assert (turn["user_id"], turn["assistant"], turn["message"]) == ("ada", "oria", "Bonjour à tous")
    assert turn["request"] == {"channel": "mcp"}
    assert result.structured_content == {
        "conversation_id": str(turn["conversation_id"]),
        "turn_id": str(turn["id"]),
        "status": "completed",
        "text": "Done.",
        "cards": [],
        "sources": [],
    }
    assert (text_of(result), result.is_error) == ("Done.", False)


async def test_named_conversation_goes_on(client: Client, database: TenantDatabase) -> None:
    first = await call_while(client, database)
    named = {"message": "And then?", "conversation_id": first.structured_content["conversation_id"]}
    second = await call_while(client, database, name="training_finder", arguments=named)
    assert second.structured_content["conversation_id"] == first.structured_content["conversation_id"]
    assert [turn["requested_agent"] for turn in await read_turns(database)] == ["career_chat", "training_finder"]


async def test_turn_is_dispatched(client: Client, database: TenantDatabase, bus: RecordingBus) -> None:
    await call_while(client, database)
    (turn,) = await read_turns(database)
    assert [(event.detail_type, event.detail["turn_id"]) for event in bus.events][:1] == [
        ("turn.stage", str(turn["id"]))
    ]


@both_generations
async def test_disabled_and_unknown_agents_run_nothing(client: Client, database: TenantDatabase) -> None:
    await narrow(database)
    for name in ("career_chat", "nobody", "oria.training_finder", "", "x" * 5000, "career\x00chat"):
        with pytest.raises(MCPError, match="Unknown tool") as raised:
            await client.call_tool(name, {"message": "Hello"})
        assert raised.value.code == INVALID_PARAMS
    assert await read_turns(database) == []


WRONG: Sequence[tuple[dict[str, object], str]] = (
    ({}, "/message"),
    ({"message": " "}, "/message"),
    ({"message": 7}, "/message"),
    ({"message": "a\x00b"}, "/message"),
    ({"message": "x" * 32_001}, "/message"),
    ({"message": "a", "locale": "no language"}, "/locale"),
    ({"message": "a", "conversation_id": 5}, "/conversation_id"),
    ({"message": "a", "channel": "api"}, "/channel"),
    ({"message": "a", "interactions": True}, "/interactions"),
    ({"message": "a", "agent": "training_finder"}, "/agent"),
)


@both_generations
async def test_wrong_arguments_are_a_result_that_says_where(client: Client, database: TenantDatabase) -> None:
    for arguments, place in WRONG:
        result = await client.call_tool("career_chat", arguments)
        assert result.is_error
        assert f"\n{place}: " in text_of(result), arguments
    assert await read_turns(database) == []


async def test_unknown_malformed_and_foreign_conversations_look_the_same(
    address: str, issuer: Issuer, pool: Pool, client: Client, database: TenantDatabase
) -> None:
    tenant = database.tenant_id
    done = await call_while(client, database)
    theirs = done.structured_content["conversation_id"]
    texts = set()
    for token, named in (
        (issuer.token(tenant, "bob"), theirs),
        (issuer.token(await create_tenant(pool, "other"), "ada"), theirs),
        (issuer.token(tenant, "ada"), str(uuid4())),
    ):
        async with connect_mcp(address, token) as other:
            result = await other.call_tool("career_chat", {"message": "Hello", "conversation_id": named})
        assert result.is_error
        texts.add(text_of(result))
    assert len(texts) == 1
    assert len(await read_turns(database)) == 1
    malformed = await client.call_tool("career_chat", {"message": "Hello", "conversation_id": "mine"})
    assert (malformed.is_error, text_of(malformed)) == (True, "There is no such conversation.")


async def test_outcomes_that_are_no_message(client: Client, database: TenantDatabase) -> None:
    blocked = await call_while(client, database, partial(block, database))
    assert (blocked.structured_content["status"], text_of(blocked), blocked.is_error) == ("blocked", "Not that.", False)
    failed = await call_while(client, database, partial(fail, database))
    assert (failed.structured_content["status"], failed.is_error) == ("failed", True)
    assert text_of(failed) == failed.structured_content["text"] != ""


async def test_cancelled_turn_ends_its_call(client: Client, database: TenantDatabase, ada: httpx2.AsyncClient) -> None:
    async def cancel(turn: UUID) -> None:
        await ada.post(f"/turns/{turn}/cancel")

    result = await call_while(client, database, cancel)
    assert (result.structured_content["status"], result.is_error) == ("cancelled", True)


async def test_turn_that_asks_after_all_gives_its_question(client: Client, database: TenantDatabase) -> None:
    async def ask(turn: UUID) -> None:
        await pause(database, turn)

    result = await call_while(client, database, ask)
    assert (result.structured_content["status"], text_of(result)) == ("awaiting_input", "Which level?")


async def test_conversation_deleted_under_a_call_ends_it(
    client: Client, database: TenantDatabase, ada: httpx2.AsyncClient
) -> None:
    async def delete(turn: UUID) -> None:
        row = (await read_turns(database))[0]
        await ada.delete(f"/conversations/{row['conversation_id']}")

    result = await call_while(client, database, delete)
    assert (result.is_error, result.structured_content) == (True, None)


async def test_active_turn_of_a_conversation_is_named(client: Client, database: TenantDatabase) -> None:
    refused = []

    async def call_again(turn: UUID) -> None:
        row = (await read_turns(database))[0]
        named = {"message": "Me too", "conversation_id": str(row["conversation_id"])}
        refused.append(await client.call_tool("career_chat", named))
        await complete(database, turn)

    await call_while(client, database, call_again)
    (turn,) = await read_turns(database)
    assert refused[0].is_error
    assert f"turn_id: {turn['id']}" in text_of(refused[0])


@both_generations
async def test_progress_names_stages_and_activities_and_nothing_else(client: Client, database: TenantDatabase) -> None:
    async def work(turn: UUID) -> None:
        await append(database, turn, Event(EventType.STAGE_STARTED, {"stage": "gate"}))
        activity = {"activity_id": "1", "kind": "tool", "name": "training_finder_tool"}
        await append(database, turn, Event(EventType.ACTIVITY_STARTED, activity))
        await emit(database, turn, "secret", "words")
        await append(database, turn, Event(EventType.ACTIVITY_COMPLETED, activity | {"status": "ok"}))
        await complete(database, turn, "secret words")

    steps = Steps()
    await call_while(client, database, work, progress_callback=steps)
    assert list(dict.fromkeys(steps.messages)) == ["accepted", "gate", "training_finder_tool"]
    numbers = [number for number, _ in steps.told]
    assert numbers == sorted(set(numbers))


@both_generations
async def test_silence_repeats_the_last_message(client: Client, database: TenantDatabase) -> None:
    async def work(turn: UUID) -> None:
        await append(database, turn, Event(EventType.STAGE_STARTED, {"stage": "gate"}))
        await asyncio.sleep(0.8)
        await complete(database, turn)

    steps = Steps()
    await call_while(client, database, work, progress_callback=steps)
    assert steps.messages.count("gate") >= 3


async def test_calls_with_one_key_are_one_turn(client: Client, database: TenantDatabase) -> None:
    meta = with_key("k1")
    first = await call_while(client, database, meta=meta)
    again = await client.call_tool("career_chat", {"message": "Hello"}, meta=meta)
    assert again.structured_content == first.structured_content
    other = await client.call_tool("career_chat", {"message": "Something else"}, meta=meta)
    assert other.is_error
    wrong = await client.call_tool("career_chat", {"message": "Hello"}, meta=with_key(["k"]))
    assert "/_meta/oria~1idempotency-key: " in text_of(wrong)
    assert len(await read_turns(database)) == 1


@both_generations
async def test_client_that_leaves_cancels_nothing_and_finds_its_turn_again(
    client: Client, database: TenantDatabase
) -> None:
    meta = with_key("k1")
    calling = asyncio.create_task(client.call_tool("career_chat", {"message": "Hello"}, meta=meta))
    turn = await find_turn(database)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await asyncio.sleep(0.3)
    (row,) = await read_turns(database)
    assert (row["status"], row["cancel_requested"]) == ("accepted", False)
    following = asyncio.create_task(client.call_tool("career_chat", {"message": "Hello"}, meta=meta))
    await complete(database, turn)
    assert (await following).structured_content["turn_id"] == str(turn)


async def test_call_that_outlives_its_connection_says_so(
    sandbox: Sandbox, token: str, database: TenantDatabase
) -> None:
    pace = Pace(fast=0.02, slow=0.05, heartbeat=5.0, cut=0.1)
    meta = with_key("k1")
    async with serve(join_apps(sandbox, pace)) as address, connect_mcp(address, token) as client:
        result = await client.call_tool("career_chat", {"message": "Hello"}, meta=meta)
        (turn,) = await read_turns(database)
        assert (result.is_error, result.structured_content["status"]) == (True, "accepted")
        assert result.structured_content["turn_id"] == str(turn["id"])
        await complete(database, turn["id"])
        again = await client.call_tool("career_chat", {"message": "Hello"}, meta=meta)
    assert (again.is_error, text_of(again)) == (False, "Done.")


async def test_assistant_that_needs_the_token_gets_it_sealed(
    environ: dict[str, str], aws: str, bus: RecordingBus, token: str, database: TenantDatabase
) -> None:
    key = boto3.client("kms").create_key()["KeyMetadata"]["KeyId"]
    sandbox = Sandbox({**environ, "KMS_KEY_ID": key}, registry=REGISTRY, publisher=bus, data_connections=4)
    sealed: list[Any] = []

    async def look(turn: UUID) -> None:
        sealed.extend(await read_turns(database))
        await complete(database, turn)

    async with serve(join_apps(sandbox)) as address, connect_mcp(address, token) as client:
        await call_while(client, database, look, name="sealing.career_chat")
    await sandbox.close()
    (turn,) = sealed
    assert (turn["assistant"], turn["requested_agent"]) == ("sealing", "career_chat")
    assert turn["sealed_context"] is not None
    assert token.encode() not in turn["sealed_context"]


async def test_notifications_name_the_turn(address: str, token: str, database: TenantDatabase) -> None:
    seen: list[Any] = []

    async def keep(message: object) -> None:
        seen.append(message)

    async with connect_mcp(address, token, message_handler=keep) as client:
        await call_while(client, database, progress_callback=Steps())
    (turn,) = await read_turns(database)
    told = [message.params.meta for message in seen if isinstance(message, ProgressNotification)]
    assert told
    assert all(meta is not None and meta["turn_id"] == str(turn["id"]) for meta in told)
