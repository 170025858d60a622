"""What the engine adds to a turn: the same graph through three workers, and in one process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any
from uuid import uuid4

from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from local.bench.assistant import build, plain_input
from local.bench.figures import Table, judge, median, milliseconds, percentile
from local.bench.testbed import TurnTimes, start_testbed
from local.cloud.postgres import create_database

TURNS, WARMING = 60, 10
FACTOR_AIM = 5.0
PAUSE_SECONDS = 0.01
PLAIN_DATABASE = "plain"


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Turn overhead with model time zero, warm, one turn after the other."""
    async with start_testbed() as bed, open_plain(bed.urls.owner) as run_plain:
        conversation = await bed.converse()
        say(f"{WARMING} turns to warm up, {TURNS} through the workers, each followed by one in one process")
        times, plain = [], []
        for _ in range(WARMING + TURNS):
            times.append(await bed.run_turn(conversation))
            # The last worker still marks what it sent.
            await asyncio.sleep(PAUSE_SECONDS)
            plain.append(await run_plain())
    return [compare(times[WARMING:], plain[WARMING:]), split(times[WARMING:])]


@asynccontextmanager
async def open_plain(owner_url: str) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """Runs a turn of the same graph in this process, with LangGraph's own saver on the same server and its default
    durability; the seconds it took."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg_pool import AsyncConnectionPool

    await create_database(owner_url, PLAIN_DATABASE)
    url = make_conninfo(owner_url, dbname=PLAIN_DATABASE)
    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
    arguments = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: Any = AsyncConnectionPool(url, kwargs=arguments, min_size=2, max_size=4, open=False)
    async with pool:
        graph = build().compile(checkpointer=AsyncPostgresSaver(pool))
        config: Any = {"configurable": {"thread_id": str(uuid4())}}

        async def run() -> float:
            started = perf_counter()
            await graph.ainvoke(plain_input(str(uuid4())), config)
            return perf_counter() - started

        yield run


def compare(times: Sequence[TurnTimes], plain: Sequence[float]) -> Table:
    totals = [each.total for each in times]
    factors = [percentile(totals, share) / percentile(plain, share) for share in (0.5, 0.95)]
    rows = [
        ["accepted → completed, three workers", *spread(totals), ""],
        ["the same graph in one process, AsyncPostgresSaver", *spread(plain), ""],
        ["factor", *(f"{factor:.1f} ×" for factor in factors), judge(factors[0], FACTOR_AIM)],
    ]
    note = (
        "From the accepting transaction's start until a reader saw the end; the bus and the runtime client are inside."
    )
    return Table(f"1. Turn overhead, model time zero ({len(times)} turns)", ["", "p50", "p95", "aim"], rows, [note])


def split(times: Sequence[TurnTimes]) -> Table:
    rows = [["POST …/turns until its 202", *spread([each.answered for each in times])]]
    rows += [[step, *spread([each.steps[step] for each in times])] for step in times[0].steps]
    note = "Between two stages: run, commit, send, route, next claim."
    return Table("Where that time goes", ["", "p50", "p95"], rows, [note])


def spread(values: Sequence[float]) -> list[str]:
    """Median and 95th percentile as cells."""
    return [milliseconds(median(values)), milliseconds(percentile(values, 0.95))]
