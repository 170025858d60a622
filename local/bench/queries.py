"""What each step asks of the database, counted on the wire between the function and Postgres."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from local.bench.assistant import SLOW
from local.bench.counting_proxy import CountingProxy
from local.bench.figures import Table
from local.bench.testbed import WORKERS, Testbed, start_testbed
from local.cloud.postgres import APP_ROLE, DATABASE

TURNS, WARMING = 10, 4
FOLLOWED_SECONDS = 3.0
STREAM = "StreamFunction"
STEPS = {
    "ApiFunction": "accept (POST …/turns)",
    "GateFunction": "gate",
    "SupervisorFunction": "supervisor",
    "SpecialistFunction": "specialist, with the end of the turn",
}


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Statements and round trips of each stage, of accepting and of following."""
    async with start_proxies() as (proxies, bed):
        conversation = await bed.converse()
        say(f"{WARMING} turns to warm up, {TURNS} counted")
        for _ in range(WARMING):
            await bed.run_turn(conversation)
        rows = await count_turns(bed, proxies, conversation)
        say("following")
        ended = (await bed.run_turn(conversation)).turn_id
        await follow(bed, ended)
        rows.append(await count_one(proxies[STREAM], "events of an ended turn, replayed", follow(bed, ended)))
        rows += await count_running(bed, proxies, conversation)
    notes = [
        "Housekeeping opens, labels and closes transactions or checks that a connection lives.",
        "A round trip is counted when the client speaks after the server has; a pipeline is one.",
    ]
    return [Table(f"3. Database, per step (means of {TURNS} turns)", COLUMNS, rows, notes)]


COLUMNS = ["", "statements", "of them housekeeping", "round trips", "new connections"]


@asynccontextmanager
async def start_proxies(
    functions: Sequence[str] = (*WORKERS, STREAM), **options: Any
) -> AsyncIterator[tuple[Mapping[str, CountingProxy], Testbed]]:
    """A testbed whose functions reach Postgres through one counting proxy each; `options` are the testbed's."""
    proxies = {name: CountingProxy() for name in functions}
    try:
        environ = {name: {"DATABASE_URL": proxy_url(await proxy.start())} for name, proxy in proxies.items()}
        # The workers connect when they are first invoked, so the proxies learn of the server in time.
        async with start_testbed(function_environ=environ, prewarm=functions, **options) as bed:
            for proxy in proxies.values():
                proxy.upstream = str(conninfo_to_dict(bed.urls.app)["host"])
            yield proxies, bed
    finally:
        for proxy in proxies.values():
            await proxy.close()


def proxy_url(port: int) -> str:
    plain = {"sslmode": "disable", "gssencmode": "disable"}
    return make_conninfo(host="127.0.0.1", port=port, user=APP_ROLE, dbname=DATABASE, **plain)


async def count_turns(bed: Testbed, proxies: Mapping[str, CountingProxy], conversation: UUID) -> list[list[str]]:
    await settle()
    for proxy in proxies.values():
        proxy.wire.reset()
    for _ in range(TURNS):
        await bed.run_turn(conversation)
    await settle()
    return [describe(step, proxies[name], TURNS) for name, step in STEPS.items()]


async def count_one(proxy: CountingProxy, step: str, work: Awaitable[None]) -> list[str]:
    await settle()
    proxy.wire.reset()
    await work
    await settle()
    return describe(step, proxy, 1)


async def count_running(bed: Testbed, proxies: Mapping[str, CountingProxy], conversation: UUID) -> list[list[str]]:
    """What a turn that is at work costs by the second: its follower's polls, and its own lease."""
    turn_id = await bed.say(conversation, f"{SLOW} please")
    following = asyncio.create_task(follow(bed, turn_id))
    await settle()
    for name in (STREAM, "SpecialistFunction"):
        proxies[name].wire.reset()
    await asyncio.sleep(FOLLOWED_SECONDS)
    steps = {STREAM: "events of a running turn, per second", "SpecialistFunction": "a stage at work, per second"}
    rows = [describe(step, proxies[name], FOLLOWED_SECONDS) for name, step in steps.items()]
    await following
    return rows


async def follow(bed: Testbed, turn_id: UUID) -> None:
    """Read the events of a turn until their stream ends."""
    async with bed.http.stream("GET", f"/v1/turns/{turn_id}/events") as stream:
        async for _ in stream.aiter_lines():
            pass


async def settle() -> None:
    """Let what goes on after an answer end: the outbox is marked after the bus has taken the next stage."""
    await asyncio.sleep(0.5)


def describe(step: str, proxy: CountingProxy, times: float) -> list[str]:
    statements = proxy.wire.statements
    figures = [statements.total(), statements["housekeeping"], proxy.wire.round_trips, proxy.wire.connections]
    return [step, *(f"{figure / times:.1f}" for figure in figures)]
