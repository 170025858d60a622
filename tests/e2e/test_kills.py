"""Workers that are killed at every point of a stage: DESIGN §2.2, with real processes and shortened timeouts."""

import asyncio
import random
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.lab_cloud import TIMEOUT_SECONDS, LabCloud

pytestmark = [pytest.mark.slow, pytest.mark.deadline, pytest.mark.asyncio(loop_scope="module")]

# What the failure record may take after the kill (DESIGN §2.2), and what a loaded machine may add.
DECISION_SECONDS = 2.0
SLACK_SECONDS = 1.5


def assert_decided_in_time(row: dict[str, Any]) -> None:
    taken = (row["finished_at"] - row["claimed_at"]).total_seconds()
    assert taken < TIMEOUT_SECONDS + DECISION_SECONDS + SLACK_SECONDS


@pytest.mark.parametrize("stage", ["gate", "supervisor", "specialist"])
async def test_a_stage_frozen_past_its_timeout_fails_the_turn(lab: LabCloud, stage: str) -> None:
    conversation = await lab.converse()
    await lab.wait(await lab.say(conversation, "hello"))
    turn = await lab.say(conversation, f"{stage}-freeze")
    await lab.claimed(turn, stage)
    before = lab.thread(conversation)
    row = await lab.wait(turn)
    assert (row["status"], row["outcome"]["error"]["code"]) == ("failed", "deadline")
    assert_decided_in_time(row)
    assert lab.thread(conversation) == before
    assert "stage.started" not in lab.events(turn)[lab.events(turn).index("run.failed") :]
    assert (await lab.run("hello", conversation))["status"] == "completed"


async def test_nothing_follows_a_killed_gate(lab: LabCloud) -> None:
    row = await lab.run("gate-freeze")
    sent = lab.query("select detail_type from oria.outbox where turn_id = %s order by id", row["id"])
    assert [each["detail_type"] for each in sent] == ["turn.stage", "turn.failed"]
    assert row["memory_claim"] is None


async def test_a_frozen_hand_over_recovers_as_unavailable(lab: LabCloud) -> None:
    row = await lab.run("research knowledge-freeze")
    assert row["status"] == "completed"
    assert row["outcome"]["text"].endswith("research:unavailable")


async def test_a_frozen_memory_branch_leaves_the_turn_alone(lab: LabCloud) -> None:
    row = await lab.run("memory-freeze")
    assert row["status"] == "completed"
    await lab.cloud.settle()
    assert lab.row(row["id"])["status"] == "completed"


@pytest.mark.parametrize("stage", ["gate", "supervisor", "specialist"])
async def test_a_crashed_worker_fails_the_turn_at_once(lab: LabCloud, stage: str) -> None:
    row = await lab.run(f"{stage}-exit")
    assert (row["status"], row["outcome"]["error"]["code"]) == ("failed", "crashed")
    assert (row["finished_at"] - row["claimed_at"]).total_seconds() < DECISION_SECONDS + SLACK_SECONDS


@pytest.mark.parametrize("stage", ["gate", "supervisor", "specialist"])
async def test_a_stage_that_waits_for_ever_ends_in_band(lab: LabCloud, stage: str) -> None:
    row = await lab.run(f"{stage}-hang")
    assert (row["status"], row["outcome"]["error"]["code"]) == ("failed", "deadline")
    assert (row["finished_at"] - row["claimed_at"]).total_seconds() < TIMEOUT_SECONDS


async def test_judging_answers_that_is_killed_leaves_the_pause_pending(lab: LabCloud) -> None:
    row = await lab.run("ask")
    await respond(lab, row, "freeze")
    row = await lab.wait(row["id"], "awaiting_input")
    assert lab.events(row["id"])[-1] == "interaction.rejected"
    await respond(lab, row, "blue")
    assert (await lab.wait(row["id"], "completed"))["outcome"]["text"].endswith("blue")


async def respond(lab: LabCloud, row: dict[str, Any], text: str) -> None:
    body = {"answers": [{"question_id": "q1", "text": text}]}
    answer = await lab.call("POST", f"/v1/interactions/{row['outcome']['interaction']['id']}/response", body)
    assert answer.status_code == 202, answer.text


async def test_a_kill_between_the_graphs_end_and_the_commit_leaves_no_trace(lab: LabCloud) -> None:
    """The test holds the turn's row, so the worker waits at its fence when it is killed."""
    conversation = await lab.converse()
    turn = await lab.say(conversation, "slow effect")
    await lab.claimed(turn, "specialist")
    before = lab.thread(conversation)
    with psycopg.connect(lab.urls.owner) as holder:
        holder.execute("select from oria.turns where id = %s for update", (turn,))
        await waiting_for_a_lock(lab)
        kill_busy(lab, "SpecialistFunction")
        await asyncio.sleep(0.3)
    await assert_lost(lab, conversation, turn, before)


async def test_a_kill_inside_the_commit_leaves_no_trace(lab: LabCloud) -> None:
    """The test holds a table that the commit writes after its fence."""
    conversation = await lab.converse()
    turn = await lab.say(conversation, "slow effect")
    await lab.claimed(turn, "specialist")
    before = lab.thread(conversation)
    with psycopg.connect(lab.urls.owner) as holder:
        holder.execute("lock table oria.checkpoint_blobs in exclusive mode")
        await waiting_for_a_lock(lab)
        kill_busy(lab, "SpecialistFunction")
        await asyncio.sleep(0.3)
    await assert_lost(lab, conversation, turn, before)


async def assert_lost(lab: LabCloud, conversation: UUID, turn: UUID, before: list[Any]) -> None:
    row = await lab.wait(turn)
    assert row["status"] == "failed"
    assert lab.thread(conversation) == before
    assert len(lab.query("select 1 as found from oria.side_effects where turn_id = %s", turn)) == 1
    assert (await lab.run("hello", conversation))["status"] == "completed"


async def waiting_for_a_lock(lab: LabCloud) -> None:
    statement = "select 1 as found from pg_stat_activity where usename = 'oria_app' and wait_event_type = 'Lock'"
    async with asyncio.timeout(10):
        while not lab.query(statement):
            await asyncio.sleep(0.05)


def kill_busy(lab: LabCloud, function: str) -> None:
    assert lab.cloud.kill_worker(function, busy=True, chance=random.Random(1)) is not None


async def test_cancel_over_http_ends_a_stage_at_work_within_a_second(lab: LabCloud) -> None:
    turn = await lab.say(await lab.converse(), "specialist-hang")
    await lab.claimed(turn, "specialist")
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert (await lab.call("POST", f"/v1/turns/{turn}/cancel")).status_code in (200, 202)
    await lab.wait(turn, "cancelled")
    assert loop.time() - started < 1 + SLACK_SECONDS
