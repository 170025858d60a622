"""Who decides about a failed stage, and that every decision is taken once (DESIGN §2.2)."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from oria_runtime.errors import NotClaimedError
from oria_runtime.turns.models import Answer, EventType, TurnStatus
from oria_runtime.turns.sweeper import sweep
from tests.support.engine import USER, Engine
from tests.support.lab import LAB


async def test_a_failure_record_of_the_claimant_fails_the_turn_with_a_safe_text(engine: Engine) -> None:
    turn = await engine.say("specialist-hang")
    event = await engine.next_stage("specialist")
    running = asyncio.create_task(engine.stage(event, engine.worker(), request_id="r1"))
    await asyncio.sleep(0.3)
    assert await engine.fail(event, "another request") == {"decision": "none"}
    assert await engine.fail(event, "r1") == {"decision": "failed"}
    assert await engine.fail(event, "r1") == {"decision": "sent"}
    assert await running == {"result": "none"}
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.FAILED
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "deadline"


async def test_a_killed_gate_is_followed_by_nothing(engine: Engine) -> None:
    turn = await engine.say("hello gate-hang")
    event = await engine.next_stage("gate")
    running = asyncio.create_task(engine.stage(event, engine.worker(), request_id="r1"))
    await asyncio.sleep(0.3)
    await engine.fail(event, "r1")
    assert [each.detail_type for each in engine.bus.events] == ["turn.failed"]
    await running
    assert "check" in (await engine.transcript())[-1].text
    assert (await engine.turn(turn.id)).status is TurnStatus.FAILED


async def test_a_record_of_an_unclaimed_stage_dispatches_it_again_at_most_three_times(engine: Engine) -> None:
    turn = await engine.say("hello")
    (event,) = engine.bus.events
    engine.bus.events.clear()
    decisions = [(await engine.fail(event, "r"))["decision"] for _ in range(5)]
    assert decisions == ["redispatched"] * 3 + ["failed", "sent"]
    assert (await engine.turn(turn.id)).status is TurnStatus.FAILED


async def test_a_claim_whose_answer_was_lost_runs_under_the_next_number(engine: Engine) -> None:
    turn = await engine.say("hello")
    (event,) = engine.bus.events
    await engine.execute("update turns set claim = gen_random_uuid(), claim_request_id = 'r1', status = 'running'")
    engine.bus.events.clear()
    assert await engine.fail(event, "r1", NotClaimedError.__name__) == {"decision": "redispatched"}
    await engine.drain()
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_claims_whose_answers_are_lost_again_and_again_end_in_a_failure(engine: Engine) -> None:
    turn = await engine.say("hello")
    decisions = []
    for _ in range(4):
        event = engine.bus.events.pop()
        await engine.execute("update turns set claim = gen_random_uuid(), claim_request_id = 'r', status = 'running'")
        decisions.append((await engine.fail(event, "r", NotClaimedError.__name__))["decision"])
    assert decisions == ["redispatched"] * 3 + ["failed"]
    assert (await engine.turn(turn.id)).status is TurnStatus.FAILED


async def test_a_configuration_that_cannot_be_read_is_a_decided_failure(engine: Engine) -> None:
    turn = await engine.say("hello")
    await engine.execute("""update tenants set config = '{"unknown": 1}'""")
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "configuration"


async def test_a_record_behind_the_row_sends_what_was_not_sent(engine: Engine) -> None:
    turn = await engine.say("hello")
    (event,) = engine.bus.events
    engine.bus.events.clear()
    engine.bus.down = True
    await engine.stage(event)
    engine.bus.down = False
    assert engine.bus.events == []
    assert await engine.fail(event, "whatever") == {"decision": "sent"}
    await engine.drain()
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_a_stage_raises_not_claimed_when_the_database_is_away(engine: Engine) -> None:
    await engine.say("hello")
    (event,) = engine.bus.events
    worker = engine.worker()
    worker.__dict__["settings"] = replace(worker.settings, database_url="postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(NotClaimedError):
        await engine.stage(event, worker, seconds=1)


async def test_a_zombie_changes_nothing(engine: Engine) -> None:
    turn = await engine.say("slow deltas")
    event = await engine.next_stage("specialist")
    zombie = asyncio.create_task(engine.stage(event, engine.worker()))
    await asyncio.sleep(0.2)
    await engine.execute("update turns set lease_expires_at = now() - interval '1 second'")
    settled = await sweep(engine.front)
    assert settled["expired_lease"] == 1
    before = (await engine.thread_rows(), await engine.transcript(), await engine.events(turn.id))
    assert await zombie == {"result": "none"}
    assert (await engine.thread_rows(), await engine.transcript(), await engine.events(turn.id)) == before
    assert (await engine.turn(turn.id)).status is TurnStatus.FAILED


async def test_the_sweeper_dispatches_an_unclaimed_stage_with_backoff_then_fails_it(engine: Engine) -> None:
    turn = await engine.say("hello")
    for expected in ("redispatched", "redispatched", "redispatched"):
        engine.bus.events.clear()
        assert "unclaimed" not in await sweep(engine.front), "not due before 30 s a dispatch"
        await engine.execute("update turns set dispatched_at = dispatched_at - interval '30 seconds' * dispatches")
        assert (await sweep(engine.front))["unclaimed"] == 1, expected
        assert [event.detail_type for event in engine.bus.events] == ["turn.stage"]
    await engine.execute("update turns set dispatched_at = now() - interval '1 hour'")
    await sweep(engine.front)
    assert (await engine.turn(turn.id)).status is TurnStatus.FAILED


async def test_the_sweeper_sends_what_a_down_bus_did_not_take(engine: Engine) -> None:
    engine.bus.down = True
    turn = await engine.say("hello")
    engine.bus.down = False
    await engine.execute("update outbox set created_at = now() - interval '10 seconds'")
    assert (await sweep(engine.front))["unsent"] == 1
    await engine.drain()
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_a_stage_event_after_the_turns_deadline_decides(engine: Engine) -> None:
    turn = await engine.say("hello")
    await engine.execute("update turns set deadline_at = now() - interval '1 second'")
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "deadline"


async def test_a_thread_moved_by_somebody_else_is_a_decided_failure(engine: Engine) -> None:
    await engine.run("hello")
    turn = await engine.say("hello")
    await engine.execute("update checkpoints set checkpoint_id = checkpoint_id || 'x'")
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "thread_changed"


async def test_a_response_across_a_deploy_that_renamed_a_node_is_a_decided_failure(engine: Engine) -> None:
    turn = await engine.run("choose")
    renamed = replace(LAB.stages[2], nodes=frozenset({"left", "right", "job"}))
    deployed = engine.with_registry({"lab": replace(LAB, stages=(*LAB.stages[:2], renamed, LAB.stages[3]))})
    await deployed.answer(turn, Answer("q1", option_ids=["o1"]))
    await deployed.drain()
    turn = await deployed.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "graph_changed"
    await deployed.close()


async def test_a_commit_whose_connection_breaks_is_tried_once_more(engine: Engine) -> None:
    turn = await engine.say("slow")
    event = await engine.next_stage("specialist")
    worker = engine.worker()
    running = asyncio.create_task(engine.stage(event, worker))
    await asyncio.sleep(0.3)
    with psycopg.connect(engine.urls.owner, autocommit=True) as connection:
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'oria%'")
    assert await running == {"result": "end"}
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_judging_answers_that_fails_leaves_the_pause_pending(engine: Engine) -> None:
    turn = await engine.run("ask")
    for text, code in (("raise", "gate_unavailable"), ("hang", "deadline")):
        await engine.answer(turn, Answer("q1", text=text))
        event = engine.bus.events.pop(0)
        if event.detail_type != "turn.stage":
            event = engine.bus.events.pop(0)
        assert (await engine.stage(event, seconds=0.5))["result"] == "released"
        rejected = (await engine.events(turn.id))[-1]
        assert rejected.type is EventType.INTERACTION_REJECTED
        assert rejected.data["error"] == {"code": code, "retryable": True}
    await engine.answer(turn, Answer("q1", text="blue"))
    await engine.drain()
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


@pytest.mark.slow
async def test_a_task_that_ignores_its_cancellation_ends_the_process(engine: Engine) -> None:
    """Run in a child process, because ending the process is what is asked."""
    turn = await engine.say("specialist-stubborn")
    event = await engine.next_stage("specialist")
    import json
    import sys

    program = (
        "import asyncio, json, sys, time\n"
        "from oria_runtime.sandbox import Sandbox\n"
        "from oria_runtime.turns.claim import StageEvent\n"
        "from oria_runtime.turns.invocation import Invocation\n"
        "from oria_runtime.turns.stage_runner import run_stage\n"
        "from tests.support.engine import Bus\n"
        "from tests.support.lab import ASSISTANTS\n"
        "sandbox = Sandbox({'DATABASE_URL': sys.argv[1]}, registry=ASSISTANTS, publisher=Bus())\n"
        "event = StageEvent.from_bus({'detail': json.loads(sys.argv[2])})\n"
        "asyncio.run(run_stage(sandbox, event, Invocation('r', time.monotonic() + 2.5)))\n"
    )
    arguments = [sys.executable, "-c", program, engine.urls.app, json.dumps(event.detail)]
    process = await asyncio.create_subprocess_exec(*arguments, env={"PYTHONPATH": ".:layers/runtime"})
    assert await process.wait() == 70
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"]["code"] == "survived"


async def test_deleting_a_conversation_takes_the_claim_of_a_stage_at_work(engine: Engine) -> None:
    from oria_runtime.turns.conversations import delete_conversation

    await engine.say("slow")
    event = await engine.next_stage("specialist")
    running = asyncio.create_task(engine.stage(event, engine.worker()))
    await asyncio.sleep(0.3)
    assert engine.conversation_id is not None
    await delete_conversation(engine.database, USER, engine.conversation_id)
    assert await running == {"result": "none"}
    assert await engine.thread_rows() == []
