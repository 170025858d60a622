"""Checkpoints do not pile up, and pruning never takes what a pause needs (CASES 10)."""

import asyncio
from dataclasses import replace

import pytest
from psycopg.conninfo import make_conninfo

from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.models import Answer, TurnStatus
from oria_runtime.turns.sweeper import sweep
from tests.support.engine import Engine

TURNS = 200


async def count_rows(engine: Engine) -> int:
    """LangGraph's rows of this conversation."""
    total = 0
    async with engine.database.transaction() as connection:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            query = f"select count(*) as n from {table} where thread_id = %s".encode()
            row = await (await connection.execute(query, (f"{engine.tenant_id}:{engine.conversation_id}",))).fetchone()
            total += row["n"] if row else 0
    return total


@pytest.mark.slow
async def test_two_hundred_turns_keep_as_many_rows_as_one_and_an_old_pause_resumes(engine: Engine) -> None:
    paused_engine = replace(engine, conversation_id=None)
    await paused_engine.run("hello")
    paused = await paused_engine.run("ask-twice effect")
    assert paused.status is TurnStatus.AWAITING_INPUT
    waiting = await count_rows(paused_engine)
    await engine.run("hello")
    first = await count_rows(engine)
    for _ in range(TURNS - 1):
        assert (await engine.run("hello")).status is TurnStatus.COMPLETED
    assert await count_rows(engine) <= first
    await sweep(engine.front)
    assert await count_rows(paused_engine) == waiting
    for text in ("one", "two"):
        paused = await paused_engine.turn(paused.id)
        await paused_engine.answer(paused, Answer("q1", text=text))
        await paused_engine.drain(paused_engine.worker())
    ended = await paused_engine.turn(paused.id)
    assert ended.outcome is not None
    assert (ended.status, ended.outcome["text"][-7:]) == (TurnStatus.COMPLETED, "one two")
    assert await paused_engine.side_effects(paused.id) == 1
    assert await count_rows(paused_engine) <= first


async def test_failed_and_cancelled_turns_pile_up_nothing_either(engine: Engine) -> None:
    await engine.run("hello")
    first = await count_rows(engine)
    for _ in range(5):
        await engine.run("specialist-raise")
        paused = await engine.run("ask")
        await engine.answer(paused, cancel=True)
        engine.bus.events.clear()
    assert (await engine.run("hello")).status is TurnStatus.COMPLETED
    assert await count_rows(engine) <= first


async def test_retention_leaves_a_conversation_that_waits_for_the_person(engine: Engine) -> None:
    paused = await engine.run("ask")
    await sweep(engine.front)
    await engine.answer(paused, Answer("q1", text="blue"))
    await engine.drain(engine.worker())
    assert (await engine.turn(paused.id)).status is TurnStatus.COMPLETED


async def test_retention_leaves_a_conversation_that_is_used_meanwhile(engine: Engine) -> None:
    await engine.run("hello")
    await engine.execute("update conversations set updated_at = now() - interval '366 days'")
    async with engine.worker().database(engine.tenant_id).transaction() as connection:
        await connection.execute("update conversations set updated_at = now()")
        sweeping = asyncio.create_task(sweep(engine.front))
        while await (await connection.execute("select 1 from pg_locks where not granted")).fetchone() is None:
            await asyncio.sleep(0.02)
    assert (await sweeping)["retired"] == 0
    assert (await engine.run("hello again")).status is TurnStatus.COMPLETED


async def test_retention_goes_on_after_a_conversation_that_cannot_be_deleted(engine: Engine) -> None:
    for _ in range(2):
        await replace(engine, conversation_id=None).run("hello")
    await engine.execute("update conversations set updated_at = now() - interval '366 days'")
    impatient = Sandbox({"DATABASE_URL": make_conninfo(engine.urls.app, options="-c lock_timeout=200ms")}, registry={})
    engine.sandboxes.append(impatient)
    async with engine.database.transaction() as connection:
        await connection.execute("select from conversations order by updated_at, id limit 1 for update")
        assert (await sweep(impatient))["retired"] == 1
    assert (await sweep(impatient))["retired"] == 1
