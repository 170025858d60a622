"""The last batch of a stage's progress."""

import asyncio
from typing import Any

import psycopg

from oria_runtime.turns.claim import StageEvent, claim_stage
from oria_runtime.turns.models import Event, EventType
from oria_runtime.turns.progress_log import open_progress
from tests.support.engine import Engine

WAITING_SQL = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and usename = 'oria_app'"


async def test_a_batch_that_is_being_written_when_the_stage_ends_is_kept(engine: Engine) -> None:
    turn = await engine.say("Hello")
    stage = StageEvent.from_bus({"detail": engine.bus.events.pop(0).detail})
    claim = await claim_stage(engine.database, stage, "request")
    assert claim is not None
    owner = await psycopg.AsyncConnection.connect(engine.urls.owner)
    async with owner, open_progress(engine.front.control(engine.tenant_id), claim) as log:
        # The row that numbers the events is held, so the batch cannot be written yet.
        await owner.execute("select 1 from oria.turns where id = %s for update", (turn.id,))
        log.add(Event(EventType.ACTIVITY_STARTED, {"name": "search"}))
        await until_someone_waits(engine)
        releasing = asyncio.create_task(release(owner))
    await releasing
    assert [event.data.get("name") for event in await engine.events(turn.id)][-1] == "search"


async def release(owner: psycopg.AsyncConnection[Any]) -> None:
    await asyncio.sleep(0.2)
    await owner.commit()


async def until_someone_waits(engine: Engine) -> None:
    async with await psycopg.AsyncConnection.connect(engine.urls.owner, autocommit=True) as watcher, asyncio.timeout(5):
        while await (await watcher.execute(WAITING_SQL)).fetchone() is None:
            await asyncio.sleep(0.02)
