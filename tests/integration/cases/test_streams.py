"""A client that follows real turns over HTTP while a worker runs them (CASES 1, 24, 30, 40, 44, 45, 47)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from oria_runtime.http.sse import Pace
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import BASE_URL, PACE, connect, issuer, join_apps, serve
from tests.integration.http.issuer import AUDIENCE, Issuer
from tests.support.engine import USER, Engine
from tests.support.lab import ASSISTANTS
from tests.support.oria_sandboxes import drain_apart

__all__ = ["issuer"]

# A second of silence here is 40 in production (the heartbeat comes every 15 s there, every 0.15 s here).
QUIET = PACE


@pytest.fixture
async def front(engine: Engine, issuer: Issuer) -> AsyncIterator[Sandbox]:
    """The API's sandbox, on the engine's bus."""
    environ = {
        "DATABASE_URL": engine.urls.app, "PUBLIC_BASE_URL": BASE_URL, "JWT_ISSUER": issuer.url,
        "JWT_AUDIENCE": AUDIENCE, "JWT_JWKS_URL": issuer.jwks_url,
    }  # fmt: skip
    sandbox = Sandbox(environ, registry=ASSISTANTS, publisher=engine.bus, data_connections=8)
    yield sandbox
    await sandbox.close()


@pytest.fixture
async def ana(engine: Engine, front: Sandbox, issuer: Issuer) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        serve(join_apps(front, QUIET)) as address,
        connect(address, issuer.token(engine.tenant_id, USER)) as client,
    ):
        yield client


async def begin(client: httpx2.AsyncClient, message: str) -> dict[str, Any]:
    answer = await client.post("/chat", json={"assistant": "lab", "message": message})
    assert answer.status_code == 202, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


class Follower:
    """A connection to a turn's events: what came, and when."""

    def __init__(self, client: httpx2.AsyncClient, turn: str, last: int | None = None) -> None:
        self.client, self.turn, self.last = client, turn, last
        self.text, self.first_byte, self.seconds = "", 0.0, 0.0

    async def read(self) -> "Follower":
        """Read to the end of the stream."""
        headers = {} if self.last is None else {"Last-Event-ID": str(self.last)}
        started = time.monotonic()
        async with self.client.stream("GET", f"/turns/{self.turn}/events", headers=headers) as answer:
            async for chunk in answer.aiter_text():
                self.first_byte = self.first_byte or time.monotonic() - started
                self.text += chunk
        self.seconds = time.monotonic() - started
        return self

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = [line for line in self.text.splitlines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]


async def test_the_first_byte_comes_long_before_the_answer(engine: Engine, ana: httpx2.AsyncClient) -> None:
    """CASES 40."""
    turn = await begin(ana, "slow deltas")
    following = asyncio.create_task(Follower(ana, turn["id"]).read())
    await drain_apart(engine)
    followed = await following
    assert followed.seconds > 1
    assert followed.first_byte < followed.seconds / 2
    assert followed.kinds[-1] == "run.completed"


async def test_a_tool_that_is_silent_for_long_loses_no_event(engine: Engine, ana: httpx2.AsyncClient) -> None:
    """CASES 45: the silence is filled, and what comes after it arrives."""
    turn = await begin(ana, "slow")
    following = asyncio.create_task(Follower(ana, turn["id"]).read())
    await drain_apart(engine)
    followed = await following
    assert followed.text.count(": heartbeat\n\n") >= 3
    assert followed.kinds == [event.type.value for event in await engine.events(UUID(turn["id"]))]


async def test_a_cut_is_no_end_and_the_next_connection_has_the_rest(
    engine: Engine,
    front: Sandbox,
    issuer: Issuer,
) -> None:
    """CASES 47: a client that comes back after each cut with its last id has every event once."""
    pace = Pace(fast=0.02, lively=0.2, slow=0.05, heartbeat=0.15, cut=0.3, retry=0.1)
    seen: list[int] = []
    async with (
        serve(join_apps(front, pace)) as address,
        connect(address, issuer.token(engine.tenant_id, USER)) as client,
    ):
        turn = await begin(client, "slow deltas")
        working = asyncio.create_task(drain_apart(engine))
        cuts = 0
        while True:
            followed = await Follower(client, turn["id"], seen[-1] if seen else None).read()
            seen += [event["seq"] for event in followed.events]
            if followed.kinds[-1:] == ["run.completed"]:
                break
            assert followed.text.endswith("retry: 100\n\n"), "a cut says when to come back"
            cuts += 1
        await working
    assert cuts >= 2
    assert seen == list(range(1, len(seen) + 1))


async def test_stream_turn_interaction_and_wait_agree_on_a_pause(engine: Engine, ana: httpx2.AsyncClient) -> None:
    """CASES 30 and 24, as a client sees them."""
    body = {"assistant": "lab", "message": "choose"}
    waiting = asyncio.create_task(ana.post("/chat", json=body, headers={"Prefer": "wait=10"}))
    while not engine.bus.events:
        await asyncio.sleep(0.01)
    await drain_apart(engine)
    waited = await waiting
    turn = waited.json()
    shown = (await ana.get(f"/turns/{turn['id']}")).json()
    assert (waited.status_code, turn["outcome"]) == (200, shown["outcome"])
    interaction = shown["outcome"]["interaction"]
    assert (shown["status"], shown["outcome"]["type"]) == ("awaiting_input", "interaction")
    followed = await Follower(ana, turn["id"]).read()
    assert followed.kinds[-1] == "interaction.requested"
    asked = followed.events[-1]["interaction"]
    assert (asked["id"], asked["questions"]) == (interaction["id"], interaction["questions"])
    assert datetime.fromisoformat(asked["expires_at"]) == datetime.fromisoformat(interaction["expires_at"])
    given = {"answers": [{"question_id": "q1", "option_ids": ["o1"]}]}
    statuses = [(await ana.post(f"/interactions/{interaction['id']}/response", json=given)).status_code for _ in "ab"]
    assert statuses == [202, 409]
    await engine.drain()
    assert (await ana.post(f"/interactions/{interaction['id']}/response", json=given)).status_code == 409


async def test_addresses_keep_the_stage_and_lead_back(engine: Engine, ana: httpx2.AsyncClient) -> None:
    """CASES 44: links are made of the configured public address, behind whatever stage or domain that is."""
    answer = await ana.post("/chat", json={"assistant": "lab", "message": "hello"})
    location = answer.headers["location"]
    assert location == f"{BASE_URL}/v1/turns/{answer.json()['id']}"
    await engine.drain()
    path = location.removeprefix(f"{BASE_URL}/v1")
    assert (await ana.get(path)).json()["status"] == "completed"


@pytest.mark.parametrize("message", ["a\u0000b", "a\ud800b"])
async def test_characters_that_no_database_stores_are_refused_with_their_place(
    engine: Engine, ana: httpx2.AsyncClient, message: str
) -> None:
    """CASES 1: a 4xx that says what and where (DESIGN §6), and nothing was begun."""
    content = json.dumps({"assistant": "lab", "message": message})
    answer = await ana.post("/chat", content=content, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/message")
    assert engine.bus.history == []


async def test_work_goes_on_when_the_answer_is_out(engine: Engine, ana: httpx2.AsyncClient) -> None:
    """CASES 43: what a request sets off is a row of the outbox before its answer, not a task after it."""
    engine.bus.down = True
    turn = await begin(ana, "hello")
    async with engine.database.transaction() as connection:
        query = "select detail_type from outbox where turn_id = %s and sent_at is null"
        rows = await (await connection.execute(query, (turn["id"],))).fetchall()
    assert [row["detail_type"] for row in rows] == ["turn.stage"]
