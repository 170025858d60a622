"""What the engine adds to a turn: the same graph through three workers, and in one process."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any
from uuid import uuid4

from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from local.bench.assistant import build, plain_input
from local.bench.figures import Table, judge, median, milliseconds, percentile
from local.bench.testbed import Testbed, TurnTimes, start_testbed
from local.cloud.postgres import create_database

TURNS, WARMING = 60, 10
FACTOR_AIM = 5.0
PLAIN_DATABASE = "plain"


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Turn overhead with model time zero, warm, one turn after the other."""
    async with start_testbed() as bed:
        conversation = await bed.converse()
        say(f"{WARMING} turns to warm up, {TURNS} through the workers")
        times = [await bed.run_turn(conversation) for _ in range(WARMING + TURNS)][WARMING:]
        say(f"{TURNS} in one process")
        plain = await run_plain(bed, WARMING + TURNS)
    return [compare(times, plain[WARMING:]), split(times)]


async def run_plain(bed: Testbed, turns: int) -> list[float]:
    """Seconds of each turn of the same graph with LangGraph's own saver on the same server, its default durability."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg_pool import AsyncConnectionPool

    await create_database(bed.urls.owner, PLAIN_DATABASE)
    url = make_conninfo(bed.urls.owner, dbname=PLAIN_DATABASE)
    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
    arguments = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: Any = AsyncConnectionPool(url, kwargs=arguments, min_size=2, max_size=4, open=False)
    async with pool:
        graph = build().compile(checkpointer=AsyncPostgresSaver(pool))
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        times = []
        for _ in range(turns):
            started = perf_counter()
            await graph.ainvoke(plain_input(str(uuid4())), config)
            times.append(perf_counter() - started)
    return times


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
