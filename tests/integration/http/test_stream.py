"""Server-sent events over a real server (DESIGN §6, CASES 40, 45, 47)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.http.sse import Pace
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import connect, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import complete, emit, pause
from tests.support.database import DatabaseUrls, execute

ANSWERS = [{"question_id": "level", "option_ids": ["beginner"]}, {"question_id": "goal", "skip": True}]


async def begin(client: httpx2.AsyncClient) -> str:
    return str((await client.post("/chat", json={"message": "Hello"})).json()["id"])


def parse(text: str) -> list[dict[str, Any]]:
    """Frames with an event; each must be three lines whose ids agree."""
    events = []
    for block in text.split("\n\n"):
        if not block.startswith("id: "):
            continue
        number, kind, data = (line.partition(": ")[2] for line in block.split("\n"))
        event = json.loads(data)
        assert (str(event["seq"]), event["type"], event["v"]) == (number, kind, 1)
        events.append(event)
    return events


async def read_all(client: httpx2.AsyncClient, turn: str, last: str | None = None) -> tuple[int, str]:
    headers = {"Last-Event-ID": last} if last is not None else {}
    answer = await client.get(f"/turns/{turn}/events", headers=headers)
    return answer.status_code, answer.text


@asynccontextmanager
async def follow(client: httpx2.AsyncClient, turn: str, **headers: str) -> AsyncIterator[AsyncIterator[str]]:
    """Chunks of a stream as they arrive."""
    async with client.stream("GET", f"/turns/{turn}/events", headers=headers) as answer:
        assert answer.status_code == 200
        yield answer.aiter_text()


async def read_until(chunks: AsyncIterator[str], wanted: str) -> str:
    text = ""
    async with asyncio.timeout(10):
        async for chunk in chunks:
            text += chunk
            if wanted in text:
                return text
    raise AssertionError(f"the stream ended without {wanted}: {text}")


async def test_finished_turn_is_replayed_whole(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    await emit(database, turn, "Bon", "jour\nà tous")
    await complete(database, turn)
    async with ada.stream("GET", f"/turns/{turn}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        events = parse((await answer.aread()).decode())
    assert [event["type"] for event in events] == [
        "run.accepted", "message.delta", "message.delta", "message.completed", "run.completed",
    ]  # fmt: skip
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert {event["turn_id"] for event in events} == {turn}
    assert events[2]["text"] == "jour\nà tous"


async def test_replay_begins_after_the_last_event_seen(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    await emit(database, turn, "a", "b")
    await complete(database, turn)
    replayed = {}
    for last in (None, "-1", "0", "3", "4"):
        replayed[last] = [event["seq"] for event in parse((await read_all(ada, turn, last))[1])]
    assert replayed == {None: [1, 2, 3, 4, 5], "-1": [1, 2, 3, 4, 5], "0": [1, 2, 3, 4, 5], "3": [4, 5], "4": [5]}


async def test_reconnect_with_nothing_to_come_is_told_to_stop(
    ada: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    turn = await begin(ada)
    await complete(database, turn)
    assert [await read_all(ada, turn, last) for last in ("3", "99999")] == [(204, ""), (204, "")]


@pytest.mark.parametrize("last", ["abc", "-2", "1.5", "9" * 30, "1;2"])
async def test_id_that_is_none_of_ours_is_refused(ada: httpx2.AsyncClient, last: str) -> None:
    status, text = await read_all(ada, await begin(ada), last)
    assert (status, json.loads(text)["errors"][0]["pointer"]) == (400, "/header/Last-Event-ID")


async def test_events_arrive_as_they_happen(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    async with follow(ada, turn) as chunks:
        await read_until(chunks, "run.accepted")
        for text in ("one", "two"):
            started = time.monotonic()
            await emit(database, turn, text)
            await read_until(chunks, text)
            assert time.monotonic() - started < 2
        await complete(database, turn)
        assert "run.completed" in await read_until(chunks, "run.completed")
        assert [chunk async for chunk in chunks] == []


async def test_ids_ahead_of_the_stream_replay_nothing(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    async with follow(ada, turn, **{"Last-Event-ID": "1"}) as chunks:
        await read_until(chunks, "heartbeat")
        await complete(database, turn)
        assert [event["seq"] for event in parse(await read_until(chunks, "run.completed"))] == [2, 3]


async def test_silence_is_filled_with_heartbeats(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    async with follow(ada, turn) as chunks:
        text = ""
        while text.count(": heartbeat\n\n") < 3:
            text += await read_until(chunks, "heartbeat")
        await complete(database, turn)
        await read_until(chunks, "run.completed")
    assert text.startswith(": connected\n\n")


async def test_stream_ends_at_a_pause_and_goes_on_after_the_answers(
    ada: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    turn = await begin(ada)
    interaction = await pause(database, turn)
    _, text = await read_all(ada, turn)
    assert [event["type"] for event in parse(text)] == ["run.accepted", "interaction.requested"]
    assert parse(text)[-1]["interaction"]["id"] == interaction
    assert await read_all(ada, turn, "2") == (204, "")
    await ada.post(f"/interactions/{interaction}/response", json={"answers": ANSWERS})
    async with follow(ada, turn, **{"Last-Event-ID": "2"}) as chunks:
        await read_until(chunks, "heartbeat")
        await complete(database, turn)
        await read_until(chunks, "run.completed")


async def test_answered_pause_in_a_replay_is_not_the_end(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    interaction = await pause(database, turn)
    await ada.post(f"/interactions/{interaction}/response", json={"answers": ANSWERS})
    async with follow(ada, turn) as chunks:
        # Nothing follows the question yet, but the turn is at work: the stream waits for it.
        await read_until(chunks, "heartbeat")
        await complete(database, turn)
        await read_until(chunks, "run.completed")
    types = [event["type"] for event in parse((await read_all(ada, turn))[1])]
    assert types == ["run.accepted", "interaction.requested", "message.completed", "run.completed"]


async def test_long_replay_is_complete(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = await begin(ada)
    await emit(database, turn, *(str(number) for number in range(1200)))
    await complete(database, turn)
    events = parse((await read_all(ada, turn))[1])
    assert [event["seq"] for event in events] == list(range(1, 1204))


async def test_cut_says_when_to_come_back_and_nothing_is_lost(
    sandbox: Sandbox, issuer: Issuer, database: TenantDatabase
) -> None:
    pace = Pace(fast=0.02, slow=0.02, heartbeat=5.0, cut=0.2, retry=0.25)
    async with (
        serve(join_apps(sandbox, pace)) as address,
        connect(address, issuer.token(database.tenant_id)) as client,
    ):
        turn = await begin(client)
        status, text = await read_all(client, turn)
        assert (status, text.endswith("retry: 250\n\n")) == (200, True)
        await complete(database, turn)
        assert [event["seq"] for event in parse((await read_all(client, turn, "1"))[1])] == [2, 3]


async def test_stream_survives_a_database_that_goes_away(
    ada: httpx2.AsyncClient, database: TenantDatabase, database_urls: DatabaseUrls
) -> None:
    turn = await begin(ada)
    owner = database_urls.owner
    name = psycopg.conninfo.conninfo_to_dict(owner)["dbname"]
    elsewhere = psycopg.conninfo.make_conninfo(owner, dbname="postgres")
    async with follow(ada, turn) as chunks:
        await read_until(chunks, "run.accepted")
        execute(elsewhere, f"alter database {name} allow_connections false")
        execute(elsewhere, f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        text = ""
        while text.count("heartbeat") < 4:
            text += await read_until(chunks, "heartbeat")
        execute(elsewhere, f"alter database {name} allow_connections true")
        await complete(database, turn)
        await read_until(chunks, "run.completed")


async def test_stream_of_a_deleted_conversation_ends(ada: httpx2.AsyncClient) -> None:
    turn = (await ada.post("/chat", json={"message": "Hello"})).json()
    async with follow(ada, turn["id"]) as chunks:
        await read_until(chunks, "run.accepted")
        await ada.delete(f"/conversations/{turn['conversation_id']}")
        async with asyncio.timeout(5):
            assert "event" not in "".join([chunk async for chunk in chunks])
    assert (await read_all(ada, turn["id"]))[0] == 404


async def test_client_that_leaves_cancels_nothing_and_leaks_nothing(
    ada: httpx2.AsyncClient, sandbox: Sandbox, database: TenantDatabase
) -> None:
    turn = await begin(ada)
    before = {task for task in asyncio.all_tasks() if "http" in repr(task.get_coro())}
    for _ in range(5):
        async with follow(ada, turn) as chunks:
            await read_until(chunks, "heartbeat")
    async with asyncio.timeout(5):
        while any("EventStream" in repr(task.get_coro()) for task in asyncio.all_tasks() - before):
            await asyncio.sleep(0.02)
    assert (await ada.get(f"/turns/{turn}")).json()["status"] == "accepted"
    stats = sandbox.pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]
    await complete(database, turn)


async def test_no_connection_is_held_between_polls(ada: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    """More streams than connections."""
    turn = await begin(ada)
    async with asyncio.timeout(20):
        streams = [asyncio.create_task(read_first_heartbeat(ada, turn)) for _ in range(24)]
        assert all(await asyncio.gather(*streams))
    assert sandbox.pool.max_size < 24


async def read_first_heartbeat(client: httpx2.AsyncClient, turn: str) -> bool:
    async with follow(client, turn) as chunks:
        return "heartbeat" in await read_until(chunks, "heartbeat")


async def test_turn_that_is_not_the_callers_has_no_stream(bob: httpx2.AsyncClient, ada: httpx2.AsyncClient) -> None:
    turn = await begin(ada)
    assert [(await read_all(bob, turn))[0], (await read_all(ada, str(uuid4())))[0], (await read_all(ada, "x"))[0]] == [
        404
    ] * 3


def test_pace_in_production_is_the_designs() -> None:
    assert Pace() == Pace(fast=0.25, lively=3.0, slow=1.0, heartbeat=15.0, cut=300.0)
