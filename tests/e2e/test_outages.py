"""Postgres restarted, backends terminated, a connection black-holed, a worker asleep past its lease."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio

from tests.support.lab_cloud import TERMINAL, LabCloud, start_lab_cloud

pytestmark = [pytest.mark.slow, pytest.mark.deadline, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LabCloud]:
    """Stages that may take a minute, so that leases and not timeouts decide."""
    data: Path = tmp_path_factory.mktemp("outages")
    async with start_lab_cloud(
        data, stage_seconds=60, rates={"SweepFunction": 2}, retry_delays=(0.5, 1), throwaway=False
    ) as lab:
        await lab.run("hello")
        yield lab


def workers(lab: LabCloud) -> set[int]:
    return {worker.pid for worker in lab.cloud.workers()}


async def assert_works_without_new_workers(lab: LabCloud, before: set[int]) -> None:
    assert (await lab.run("hello"))["status"] == "completed"
    assert before <= workers(lab), "a worker had to be replaced"


async def test_terminated_backends_between_and_inside_turns(lab: LabCloud) -> None:
    before = workers(lab)
    terminate = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'oria_app'"
    lab.query(terminate)
    await assert_works_without_new_workers(lab, before)
    turn = await lab.say(await lab.converse(), "slow effect")
    await lab.claimed(turn, "specialist")
    lab.query(terminate)
    assert (await lab.wait(turn))["status"] == "completed"


async def test_postgres_restarted_in_the_middle_of_turns(lab: LabCloud) -> None:
    before = workers(lab)
    turns = [await lab.say(await lab.converse(), "slow effect") for _ in range(3)]
    await lab.claimed(turns[0], "specialist")
    await lab.cloud.restart_postgres()
    for turn in turns:
        row = await lab.wait(turn, *TERMINAL, seconds=90)
        assert row["status"] in ("completed", "failed")
        assert len(lab.query("select 1 as one from oria.side_effects where turn_id = %s", turn)) <= 1
    await assert_works_without_new_workers(lab, before)


async def test_a_black_holed_connection_delays_but_does_not_lose_a_turn(lab: LabCloud) -> None:
    """The backends of every idle worker are stopped: their sockets accept what nobody reads."""
    statement = "select pid from pg_stat_activity where usename = 'oria_app'"
    backends = [row["pid"] for row in lab.query(statement)]
    for backend in backends:
        os.kill(backend, signal.SIGSTOP)
    try:
        async with asyncio.timeout(60):
            said = await lab.persist("POST", "/v1/chat", {"assistant": "lab", "message": "hello"})
        row = await lab.wait(UUID(said["id"]), *TERMINAL, seconds=90)
    finally:
        for backend in backends:
            os.kill(backend, signal.SIGCONT)
    assert row["status"] in ("completed", "failed")
    assert (await lab.run("hello"))["status"] == "completed"


async def test_a_zombie_that_wakes_after_its_lease_changes_nothing(lab: LabCloud) -> None:
    conversation = await lab.converse()
    turn = await lab.say(conversation, "slow effect")
    await lab.claimed(turn, "specialist")
    (worker,) = lab.cloud.workers("SpecialistFunction", busy=True)
    worker.signal(signal.SIGSTOP)
    row = await lab.wait(turn, "failed")
    assert row["outcome"]["error"]["code"] == "lease_expired"
    before = (lab.thread(conversation), lab.transcript(conversation), lab.events(turn))
    worker.signal(signal.SIGCONT)
    await asyncio.sleep(3)
    assert (lab.thread(conversation), lab.transcript(conversation), lab.events(turn)) == before
    assert (await lab.run("hello", conversation))["status"] == "completed"
