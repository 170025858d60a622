"""Oria behind a transaction pooler, on dead and on slow connections (CASES 3, 4, 6, 8, 41)."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from uuid import UUID

import psycopg
import pytest

from oria_runtime.db.pool import TenantDatabase, create_pool
from oria_runtime.turns.models import TurnStatus
from oria_runtime.turns.saver import BufferingSaver
from oria_runtime.turns.sweeper import sweep
from tests.support.database import DatabaseUrls
from tests.support.engine import Engine
from tests.support.oria_engine import OriaEngine, career_chat, training_finder
from tests.support.oria_pooler import Pooler, run_pooler
from tests.support.oria_sandboxes import run_apart
from tests.support.scripted_model import Script


@pytest.fixture
async def pooled(database_urls: DatabaseUrls, tenant: UUID, script: Script) -> AsyncIterator[tuple[OriaEngine, Pooler]]:
    """Oria whose every transaction is on another server connection than the one before."""
    async with run_pooler(database_urls, size=3) as (pooler, urls):
        engine = OriaEngine(urls, tenant, script=script)
        yield engine, pooler
        await engine.close()


async def test_every_transaction_may_be_on_another_server(pooled: tuple[OriaEngine, Pooler]) -> None:
    """CASES 3: no prepared statement and no setting of a session is left behind for the next transaction."""
    oria, pooler = pooled
    await oria.add_trainings(6)
    career_chat(oria.script, "Hello.", profile=True)
    for number in range(8):
        assert (await oria.run(f"Hello {number}")).status is TurnStatus.COMPLETED
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan")
    turn = await oria.answer_each(turn, "Reports", "", "A day")
    await oria.drain(oria.worker())
    assert (await oria.turn(turn.id)).status is TurnStatus.COMPLETED
    assert await sweep(oria.front) == {"retired": 0}
    assert len(pooler.transactions) == 3
    assert min(pooler.transactions.values()) > 30
    for server in range(3):
        del server
        async with oria.database.transaction() as connection:
            cursor = await connection.execute("select name from pg_prepared_statements")
            assert await cursor.fetchall() == []


async def test_no_tenant_is_left_on_a_server(pooled: tuple[OriaEngine, Pooler]) -> None:
    """The tenant is a setting of the transaction: on the next one's server no row is visible without it."""
    oria, pooler = pooled
    career_chat(oria.script, "Hello.")
    await oria.run("Hello")
    async with await psycopg.AsyncConnection.connect(
        oria.urls.app, autocommit=True, prepare_threshold=None
    ) as connection:
        for _ in range(6):
            for table in ("turns", "messages", "checkpoints", "checkpoint_blobs"):
                cursor = await connection.execute(f"select count(*) from {table}".encode())
                assert await cursor.fetchone() == (0,), table
    assert len(pooler.transactions) == 3


async def test_idle_connections_that_were_cut_cost_no_turn(pooled: tuple[OriaEngine, Pooler]) -> None:
    """CASES 4 and 6: sockets die while the sandbox is frozen; the next invocation reconnects once."""
    oria, pooler = pooled
    career_chat(oria.script, "Hello.")
    await oria.run("Hello")
    before = pooler.accepted
    pooler.cut_clients()
    await asyncio.sleep(0.05)
    assert (await oria.run("Hello again")).status is TurnStatus.COMPLETED
    assert pooler.accepted <= before + 2, "one new connection for data, one for control"


async def test_terminated_backends_cost_no_turn_whenever_it_happens(oria: OriaEngine) -> None:
    """CASES 4: between turns, and between the stages of one."""
    career_chat(oria.script, "Hello.")
    await oria.run("Hello")
    for stage in ("gate", "supervisor", "specialist"):
        turn = await oria.say("Hello again")
        event = await oria.next_stage(stage)
        terminate(oria)
        await oria.stage(event)
        await oria.drain()
        assert (await oria.turn(turn.id)).status is TurnStatus.COMPLETED


def terminate(oria: OriaEngine) -> None:
    with psycopg.connect(oria.urls.owner, autocommit=True) as owner:
        query = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'oria_app' and datname = %s"
        owner.execute(query, (owner.info.dbname,))


async def test_five_invocations_of_a_stage_share_two_connections(oria: OriaEngine) -> None:
    """CASES 41: one data and one control connection for the life of the sandbox."""
    career_chat(oria.script, "Hello.")
    front, worker = oria.front, oria.worker()
    backends: set[int] = set()
    for number in range(5):
        await oria.say(f"Hello {number}")
        await oria.drain(worker)
        for pool in (worker.pool, worker.control_pool):
            if not pool.closed:
                async with pool.connection() as connection:
                    backends.add(connection.info.backend_pid)
    assert len(backends) == 2
    assert worker.pool.get_stats()["connections_num"] == 1
    assert front.pool.max_size == worker.pool.max_size == 1


async def test_two_threads_on_one_saver_read_at_once(database_urls: DatabaseUrls, tenant: UUID) -> None:
    """CASES 8: the vendor's lock would make a slow database serve one thread after the other."""
    async with run_pooler(database_urls, size=8) as (pooler, urls), create_pool(urls.app, max_size=4) as pool:
        saver = BufferingSaver(TenantDatabase(pool, tenant), None)
        configs = [{"configurable": {"thread_id": f"{tenant}:{n}", "checkpoint_ns": "x"}} for n in range(4)]
        await asyncio.gather(*(saver.aget_tuple(config) for config in configs))  # type: ignore[arg-type]
        pooler.delay = 0.15
        started = time.monotonic()
        await saver.aget_tuple(configs[0])  # type: ignore[arg-type]
        alone = time.monotonic() - started
        started = time.monotonic()
        await asyncio.gather(*(saver.aget_tuple(config) for config in configs))  # type: ignore[arg-type]
        together = time.monotonic() - started
    assert together < 3 * alone, f"one read {alone:.2f} s, four at once {together:.2f} s"


async def test_two_conversations_progress_at_once(engine: Engine) -> None:
    """CASES 8, through whole stages of two sandboxes: each takes a second, and neither waits for the other."""
    other = replace(engine, conversation_id=None)
    events = []
    for each in (engine, other):
        await each.say("slow")
        events.append(await each.next_stage("specialist"))
    results = await asyncio.gather(*(run_apart(engine, partial(engine.stage, event)) for event in events))
    assert results == [{"result": "end"}] * 2
    async with engine.database.transaction() as connection:
        query = "select max(claimed_at) as both_at_work, min(finished_at) as first_end from turns"
        row = await (await connection.execute(query)).fetchone()
    assert row is not None
    assert row["both_at_work"] < row["first_end"]
