"""A stage is claimed once and committed once, whatever runs inside it (DESIGN §2.1)."""

import asyncio
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from oria_runtime.turns.models import Answer, EventType, TurnStatus
from tests.support.engine import Engine
from tests.support.lab import LITTER


async def test_a_turn_goes_through_its_stages_to_its_outcome(engine: Engine) -> None:
    turn = await engine.run("hello")
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert turn.outcome["text"].startswith("check route left right")
    assert [(m.role, m.text) for m in await engine.transcript()] == [
        ("user", "hello"),
        ("assistant", turn.outcome["text"]),
    ]
    types = [event.type for event in await engine.events(turn.id)]
    assert types[0] is EventType.RUN_ACCEPTED
    assert types[-2:] == [EventType.MESSAGE_COMPLETED, EventType.RUN_COMPLETED]
    assert types.count(EventType.STAGE_STARTED) == 3
    assert [event.seq for event in await engine.events(turn.id)] == list(range(1, len(types) + 1))


async def test_a_second_turn_sees_the_first_ones_messages_and_one_checkpoint_stays(engine: Engine) -> None:
    await engine.run("hello")
    await engine.run("again types")
    turn = await engine.run("once more")
    assert turn.status is TurnStatus.COMPLETED
    rows = await engine.thread_rows()
    assert len([row for row in rows if row[0] == "checkpoints"]) == 1


async def test_duplicated_and_stale_events_find_nothing_to_claim(engine: Engine) -> None:
    turn = await engine.say("hello")
    (gate,) = engine.bus.events
    engine.bus.events = [gate, gate]
    results = await engine.drain()
    engine.bus.events = list(engine.bus.history)
    results += await engine.drain()
    assert [result["result"] for result in results].count("not_claimed") >= 4
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED
    assert len(await engine.transcript()) == 2


async def test_of_two_workers_one_runs_the_stage(engine: Engine) -> None:
    await engine.say("effect slow")
    specialist = await engine.next_stage("specialist")
    results = await asyncio.gather(*(engine.stage(specialist, engine.worker()) for _ in range(4)))
    assert sorted(result["result"] for result in results) == ["end", "not_claimed", "not_claimed", "not_claimed"]


async def test_a_blocked_message_never_enters_the_graphs_history(engine: Engine) -> None:
    blocked = await engine.run("block secret")
    assert blocked.status is TurnStatus.BLOCKED
    assert blocked.outcome is not None
    assert blocked.outcome["decision"] == "block"
    assert "secret" not in str(await engine.thread_rows())
    assert (await engine.transcript())[0].text == "block secret"
    assert (await engine.run("hello")).status is TurnStatus.COMPLETED


@pytest.mark.parametrize("stage", ["gate", "supervisor", "specialist"])
async def test_a_stage_that_raises_leaves_the_thread_as_it_was(engine: Engine, stage: str) -> None:
    await engine.run("hello")
    turn = await engine.say(f"{stage}-raise")
    event = await engine.next_stage(stage)
    before = await engine.thread_rows()
    assert (await engine.stage(event))["result"] == "failed"
    assert await engine.thread_rows() == before
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.FAILED
    assert turn.outcome is not None
    assert turn.outcome["error"] == {"code": "failed", "retryable": True}
    assert (await engine.run("hello")).status is TurnStatus.COMPLETED


async def test_a_stage_that_passes_its_deadline_in_band_fails_the_turn(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    turn = await engine.say("specialist-hang")
    event = await engine.next_stage("specialist")
    before = await engine.thread_rows()
    assert (await engine.stage(event, seconds=0.5))["result"] == "failed"
    assert await engine.thread_rows() == before
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "deadline"
    [logged] = [vars(record) for record in caplog.records if record.getMessage() == "stage failed"]
    assert logged["code"] == "deadline"
    assert 0 < logged["budget"] <= 0.5
    assert logged["elapsed"] >= logged["budget"]


async def test_handovers_share_the_budget_of_their_turn(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    """What a stage has spent is in the row when the next one of the turn is claimed; that one gets the rest."""
    await engine.say("research")
    knowledge = await engine.next_stage("knowledge")
    async with engine.database.transaction() as connection:
        [row] = await (await connection.execute("select budgets from turns")).fetchall()
    assert 0 < row["budgets"]["handovers"] < 60
    await engine.stage(knowledge)
    await engine.execute("update turns set budgets = '{\"handovers\": 180}'")
    await engine.drain()
    [logged] = [vars(record) for record in caplog.records if record.getMessage() == "stage failed"]
    assert (logged["code"], logged["budget"]) == ("deadline", 0)


async def test_a_pause_two_subgraphs_deep_resumes_with_its_cached_task(engine: Engine) -> None:
    turn = await engine.run("ask effect")
    assert turn.status is TurnStatus.AWAITING_INPUT
    assert turn.outcome is not None
    assert turn.outcome["interaction"]["questions"][0]["text"] == "Question 1?"
    assert (await engine.events(turn.id))[-1].type is EventType.INTERACTION_REQUESTED
    await engine.answer(turn, Answer("q1", text="blue"))
    await engine.drain(engine.worker())
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith(f"prepared for {turn.id} blue")
    assert await engine.side_effects(turn.id) == 1
    assert [m.text for m in await engine.transcript()][1:3] == ["Question 1?", "blue"]


async def test_two_questions_in_a_row_are_each_asked_once(engine: Engine) -> None:
    turn = await engine.run("ask-twice")
    first = turn.outcome
    await engine.answer(turn, Answer("q1", text="one"))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.AWAITING_INPUT
    assert turn.outcome is not None
    assert first is not None
    assert turn.outcome["interaction"]["id"] != first["interaction"]["id"]
    await engine.answer(turn, Answer("q1", text="two"))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("one two")


async def test_two_interrupts_at_once_are_a_decided_failure(engine: Engine) -> None:
    turn = await engine.run("ask ask-parallel")
    assert turn.outcome is not None
    assert turn.outcome["error"] == {"code": "ambiguous_pause", "retryable": False}


async def test_a_hand_over_after_a_resume_comes_back_without_the_old_answer(engine: Engine) -> None:
    turn = await engine.run("ask research-later")
    await engine.answer(turn, Answer("q1", text="blue"))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("blue research:found")


async def test_a_hand_over_comes_back_through_its_own_stage(engine: Engine) -> None:
    turn = await engine.run("research")
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("research:found")


@pytest.mark.parametrize("fault", ["knowledge-raise", "knowledge-hang"])
async def test_a_failed_hand_over_is_dispatched_once_more_as_unavailable(engine: Engine, fault: str) -> None:
    turn = await engine.say(f"research {fault}")
    event = await engine.next_stage("knowledge")
    assert (await engine.stage(event, seconds=0.5))["result"] == "recovered"
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("research:unavailable")


async def test_an_empty_end_without_an_outcome_is_a_failure(engine: Engine) -> None:
    turn = await engine.run("mute")
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "no_outcome"


async def test_nul_and_lone_surrogates_of_a_node_do_not_fail_the_turn(engine: Engine) -> None:
    turn = await engine.run("nul")
    assert turn.status is TurnStatus.COMPLETED
    assert "\x00" not in (await engine.transcript())[-1].text


async def test_types_in_state_come_back_as_they_were(engine: Engine) -> None:
    await engine.run("types")
    await engine.run("hello")
    blobs = str(await engine.thread_rows())
    assert blobs
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with engine.database.transaction() as connection:
        found = await AsyncPostgresSaver(connection).aget_tuple(
            {"configurable": {"thread_id": f"{engine.tenant_id}:{engine.conversation_id}", "checkpoint_ns": ""}}
        )
    assert found is not None
    assert tuple(found.checkpoint["channel_values"]["kept"]) == (Decimal("1.50"), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 does not show a task's context")
async def test_a_task_that_a_node_left_behind_is_cancelled_before_the_stage_returns(engine: Engine) -> None:
    assert (await engine.run("litter")).status is TurnStatus.COMPLETED
    (task,) = LITTER
    assert task.cancelled()


async def test_deltas_reach_the_events_before_the_end(engine: Engine) -> None:
    turn = await engine.run("deltas")
    events = await engine.events(turn.id)
    text = "".join(event.data["text"] for event in events if event.type is EventType.MESSAGE_DELTA)
    assert turn.outcome is not None
    assert text.strip() == turn.outcome["text"].strip()


async def test_the_memory_branch_writes_the_list_once(engine: Engine) -> None:
    from oria_runtime.turns.preferences import read_preferences

    await engine.run("remember tea")
    engine.bus.events = [event for event in engine.bus.history if event.detail_type == "turn.approved"]
    assert await engine.drain() == [{"result": "not_claimed"}]
    preferences = await read_preferences(engine.database, "ana")
    assert (list(preferences.items), preferences.version) == (["remember tea"], 1)
