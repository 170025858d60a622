"""Many turns under faults of every kind the bus and the machine have: each ends once, and nothing is half-done.

15 turns here, 1,000 with SOAK=1 (`make soak`); SOAK_SEED repeats a run.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from local.cloud.faults import SeededFaults
from oria_runtime.db.pool import TenantDatabase, create_pool
from tests.support.lab_cloud import TERMINAL, LabCloud, start_lab_cloud

pytestmark = [pytest.mark.slow, pytest.mark.deadline, pytest.mark.asyncio(loop_scope="module")]

TURNS, CONVERSATIONS_AT_ONCE = (1000, 20) if os.environ.get("SOAK") else (15, 5)
SEED = int(os.environ.get("SOAK_SEED", "20261130"))
QUIET_SECONDS = 90
MESSAGES = (
    "hello effect", "research effect", "ask effect", "choose effect", "slow effect", "block", "deltas effect",
    "specialist-raise effect", "research knowledge-raise effect", "ask-twice effect",
)  # fmt: skip


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def stormy(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[LabCloud, SeededFaults]]:
    faults = SeededFaults(SEED, drop=0.06, duplicate=0.12, delay=0.12, longest_delay=2, reject=0.05)
    data: Path = tmp_path_factory.mktemp("soak")
    async with start_lab_cloud(
        data, stage_seconds=8, faults=faults, rates={"SweepFunction": 2}, retry_delays=(0.5, 1)
    ) as lab:
        yield lab, faults


@pytest.mark.timeout(7200 if os.environ.get("SOAK") else 300)
async def test_every_turn_ends_once_and_every_transcript_is_whole(stormy: tuple[LabCloud, SeededFaults]) -> None:
    lab, faults = stormy
    chance = random.Random(SEED)
    killing = asyncio.create_task(kill_workers(lab, chance))
    plans = [chance.choice(MESSAGES) for _ in range(TURNS)]
    per_conversation = max(1, TURNS // CONVERSATIONS_AT_ONCE // 5)
    batches = [plans[at : at + per_conversation] for at in range(0, TURNS, per_conversation)]
    places = asyncio.Semaphore(CONVERSATIONS_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(hold_conversation(lab, batch, places)) for batch in batches]
    killing.cancel()
    faults.active = False
    conversations = dict(task.result() for task in tasks)
    turns = [turn for batch in conversations.values() for turn in batch]
    ended = [await lab.wait(turn, *TERMINAL, seconds=QUIET_SECONDS) for turn in turns]
    for row in ended:
        assert_ended_once(lab, row)
    for conversation, batch in conversations.items():
        assert_transcript_whole(lab, conversation, batch)
        await assert_thread_whole(lab, conversation)
    print(f"soak: {len(turns)} turns, {dict(Counter(row['status'] for row in ended))}, {faults.counts}")  # noqa: T201


async def kill_workers(lab: LabCloud, chance: random.Random) -> None:
    while True:
        await asyncio.sleep(chance.uniform(2, 5))
        lab.cloud.kill_worker(busy=chance.choice([True, True, None]), chance=chance)


async def hold_conversation(lab: LabCloud, messages: list[str], places: asyncio.Semaphore) -> tuple[UUID, list[UUID]]:
    async with places:
        conversation = UUID((await lab.persist("POST", "/v1/conversations", {"assistant": "lab"}))["id"])
        turns = []
        for message in messages:
            path, key = f"/v1/conversations/{conversation}/turns", str(uuid4())
            said = await lab.persist("POST", path, {"message": message}, **{"idempotency-key": key})
            turns.append(UUID(said["id"]))
            await see_through(lab, turns[-1])
        return conversation, turns


async def see_through(lab: LabCloud, turn: UUID) -> None:
    """Answer whatever the turn asks until it ends."""
    while True:
        row = await lab.wait(turn, *TERMINAL, "awaiting_input", seconds=QUIET_SECONDS * 2)
        if row["status"] in TERMINAL:
            return
        interaction = row["outcome"]["interaction"]
        (question,) = interaction["questions"]
        reply = {"option_ids": ["o1"]} if question["options"] else {"text": "blue"}
        body = {"answers": [{"question_id": question["id"], **reply}]}
        await lab.persist("POST", f"/v1/interactions/{interaction['id']}/response", body)


def assert_ended_once(lab: LabCloud, row: dict[str, Any]) -> None:
    events = Counter(lab.events(row["id"]))
    ends = sum(events[name] for name in ("run.completed", "run.blocked", "run.failed", "run.cancelled"))
    assert (ends, events["message.completed"]) == (1, 1), row["message"]
    effects = lab.query("select 1 as one from oria.side_effects where turn_id = %s", row["id"])
    assert len(effects) <= 1, "a counted side effect happened twice"
    if row["status"] == "completed":
        assert len(effects) == ("effect" in row["message"])


def assert_transcript_whole(lab: LabCloud, conversation: UUID, turns: list[UUID]) -> None:
    statement = "select turn_id, role from oria.messages where conversation_id = %s order by position"
    rows = lab.query(statement, conversation)
    assert [row["turn_id"] for row in rows if row["role"] == "user"][:1] == turns[:1]
    assert list(dict.fromkeys(row["turn_id"] for row in rows)) == turns
    for turn in turns:
        roles = [row["role"] for row in rows if row["turn_id"] == turn]
        assert roles[0] == "user"
        assert roles[-1] == "assistant"


async def assert_thread_whole(lab: LabCloud, conversation: UUID) -> None:
    config: Any = {"configurable": {"thread_id": f"{lab.tenant_id}:{conversation}", "checkpoint_ns": ""}}
    pool = create_pool(lab.urls.app, max_size=1)
    async with pool, TenantDatabase(pool, lab.tenant_id).transaction() as connection:
        found = await AsyncPostgresSaver(connection).aget_tuple(config)
    messages = found.checkpoint["channel_values"].get("messages", []) if found else []
    called = [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    assert called == answered
    asked = [message.id for message in messages if isinstance(message, HumanMessage)]
    assert len(asked) == len(set(asked))
