"""Interactions, cancel and queue: every rule of DESIGN §2.4."""

import asyncio
from uuid import UUID, uuid4

import pytest

from oria_runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.interactions import Response, read_interaction, respond
from oria_runtime.turns.models import Answer, EventType, Turn, TurnStatus
from oria_runtime.turns.sweeper import sweep
from tests.support.engine import USER, Engine


def interaction_id(turn: Turn) -> UUID:
    assert turn.outcome is not None
    return UUID(turn.outcome["interaction"]["id"])


async def test_options_need_no_gate(engine: Engine) -> None:
    turn = await engine.run("choose")
    await engine.answer(turn, Answer("q1", option_ids=["o2"]))
    stages = [event.detail["stage"] for event in engine.bus.events if event.detail_type == "turn.stage"]
    assert stages == ["specialist"]
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("o2")
    assert [message.text for message in await engine.transcript()][2] == "Blue"


async def test_a_skip_needs_no_gate(engine: Engine) -> None:
    turn = await engine.run("ask")
    await engine.answer(turn, Answer("q1", skip=True))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("skipped")


@pytest.mark.parametrize("decision", ["block", "doubt"])
async def test_an_answer_that_the_gate_stops_leaves_the_pause_pending(engine: Engine, decision: str) -> None:
    turn = await engine.run("ask effect")
    await engine.answer(turn, Answer("q1", text=decision))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.AWAITING_INPUT
    rejected = (await engine.events(turn.id))[-1]
    assert rejected.type is EventType.INTERACTION_REJECTED
    assert rejected.data["decision"] == decision
    assert decision not in str(await engine.thread_rows())
    assert (await read_interaction(engine.database, USER, interaction_id(turn))).status == "pending"
    await engine.answer(turn, Answer("q1", text="blue"))
    await engine.drain()
    turn = await engine.turn(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert await engine.side_effects(turn.id) == 1


async def test_of_two_responses_at_once_the_first_wins(engine: Engine) -> None:
    turn = await engine.run("ask")
    results = await asyncio.gather(
        *(
            respond(
                worker,
                worker.database(engine.tenant_id),
                USER,
                interaction_id(turn),
                Response([Answer("q1", text=text)]),
            )
            for text, worker in (("one", engine.worker()), ("two", engine.worker()))
        ),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["ConflictError", "Turn"]
    await engine.drain()
    with pytest.raises(ConflictError):
        await engine.answer(turn, Answer("q1", text="three"))


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [Answer("q2", option_ids=["o1"])],
        [Answer("q1", option_ids=["o1"]), Answer("q1", option_ids=["o1"])],
        [Answer("q1", option_ids=["o3"])],
        [Answer("q1", option_ids=["o1", "o2"])],
        [Answer("q1", option_ids=[])],
        [Answer("q1", text="Blue")],
        [Answer("q1")],
        [Answer("q1", option_ids=["o1"], skip=True)],
    ],
)
async def test_answers_that_do_not_fit_leave_the_pause_untouched(engine: Engine, answers: list[Answer]) -> None:
    turn = await engine.run("choose")
    with pytest.raises(InvalidRequestError) as refused:
        await engine.answer(turn, *answers)
    assert all(violation.pointer.startswith("/answers") for violation in refused.value.errors)
    assert (await read_interaction(engine.database, USER, interaction_id(turn))).status == "pending"


async def test_unknown_and_foreign_interactions_look_the_same(engine: Engine) -> None:
    turn = await engine.run("choose")
    for user, wanted in (("bob", interaction_id(turn)), (USER, uuid4())):
        with pytest.raises(NotFoundError):
            await respond(engine.front, engine.database, user, wanted, Response([Answer("q1", skip=True)]))


async def test_cancelling_an_interaction_ends_the_turn_without_a_stage(engine: Engine) -> None:
    turn = await engine.run("ask")
    engine.bus.events.clear()
    turn = await engine.answer(turn, cancel=True)
    assert turn.status is TurnStatus.CANCELLED
    assert [event.detail_type for event in engine.bus.events] == ["turn.cancelled"]
    next_turn = await engine.run("hello")
    assert next_turn.status is TurnStatus.COMPLETED


async def test_an_expired_interaction_ends_the_turn_and_refuses_late_answers(engine: Engine) -> None:
    turn = await engine.run("ask")
    await engine.execute("update interactions set expires_at = now() - interval '1 second'")
    with pytest.raises(ConflictError):
        await engine.answer(turn, Answer("q1", text="late"))
    assert (await sweep(engine.front))["expired_interaction"] == 1
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["error"] == {"code": "expired", "retryable": False}
    assert (await engine.run("hello")).status is TurnStatus.COMPLETED


async def test_a_new_message_is_refused_while_a_turn_is_active(engine: Engine) -> None:
    first = await engine.say("hello")
    with pytest.raises(ConflictError) as refused:
        await engine.say("second")
    assert refused.value.blocking == {"turn_id": str(first.id)}


async def test_a_refusal_behind_a_pause_names_the_interaction(engine: Engine) -> None:
    turn = await engine.run("ask")
    for mode in ("reject", "enqueue"):
        with pytest.raises(ConflictError) as refused:
            await engine.say("second", on_conflict=mode)
        assert refused.value.blocking == {"turn_id": str(turn.id), "interaction_id": str(interaction_id(turn))}


async def test_five_turns_wait_and_run_in_order(engine: Engine) -> None:
    turns = [await engine.say("hello 0")]
    turns += [await engine.say(f"hello {number}", on_conflict="enqueue") for number in range(1, 6)]
    with pytest.raises(ConflictError):
        await engine.say("one too many", on_conflict="enqueue")
    assert [turn.status for turn in turns[1:]] == [TurnStatus.QUEUED] * 5
    await engine.drain()
    assert {(await engine.turn(turn.id)).status for turn in turns} == {TurnStatus.COMPLETED}
    said = [message.text for message in await engine.transcript() if message.role == "user"]
    assert said == [f"hello {number}" for number in range(6)]


async def test_a_queued_turn_can_be_cancelled(engine: Engine) -> None:
    await engine.say("hello")
    queued = await engine.say("later", on_conflict="enqueue")
    assert (await cancel_turn(engine.front, engine.database, USER, queued.id)).status is TurnStatus.CANCELLED
    await engine.drain()
    assert "later" not in [message.text for message in await engine.transcript()]


async def test_interrupt_cancels_a_paused_turn_and_takes_its_place(engine: Engine) -> None:
    paused = await engine.run("ask")
    turn = await engine.say("instead", on_conflict="interrupt")
    assert turn.status is TurnStatus.ACCEPTED
    await engine.drain()
    assert (await engine.turn(paused.id)).status is TurnStatus.CANCELLED
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_interrupt_cancels_a_running_turn_and_takes_its_place(engine: Engine) -> None:
    await engine.say("specialist-hang")
    event = await engine.next_stage("specialist")
    running = asyncio.create_task(engine.stage(event, engine.worker()))
    await asyncio.sleep(0.3)
    turn = await engine.say("instead", on_conflict="interrupt")
    assert turn.status is TurnStatus.QUEUED
    assert await asyncio.wait_for(running, 3) == {"result": "cancelled"}
    await engine.drain()
    assert (await engine.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_cancel_between_stages_ends_the_turn_at_once(engine: Engine) -> None:
    turn = await engine.say("hello")
    event = await engine.next_stage("supervisor")
    assert (await cancel_turn(engine.front, engine.database, USER, turn.id)).status is TurnStatus.CANCELLED
    assert await engine.stage(event) == {"result": "not_claimed"}


async def test_cancel_stops_a_stage_within_a_second_and_drops_its_buffer(engine: Engine) -> None:
    turn = await engine.say("specialist-hang")
    event = await engine.next_stage("specialist")
    before = await engine.thread_rows()
    running = asyncio.create_task(engine.stage(event, engine.worker()))
    await asyncio.sleep(0.3)
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert (await cancel_turn(engine.front, engine.database, USER, turn.id)).status is TurnStatus.RUNNING
    assert await running == {"result": "cancelled"}
    assert loop.time() - started < 2, "a second, with slack"
    assert await engine.thread_rows() == before
    assert (await engine.turn(turn.id)).status is TurnStatus.CANCELLED


async def test_cancelling_a_terminal_turn_returns_it(engine: Engine) -> None:
    turn = await engine.run("hello")
    assert (await cancel_turn(engine.front, engine.database, USER, turn.id)).status is TurnStatus.COMPLETED


async def test_an_idempotency_key_gives_the_same_turn(engine: Engine) -> None:
    first = await engine.say("hello", idempotency_key="k", request_hash="h")
    again = await engine.say("hello", idempotency_key="k", request_hash="h")
    assert again.id == first.id
    with pytest.raises(InvalidRequestError):
        await engine.say("other", idempotency_key="k", request_hash="i")
    await engine.drain()
    assert (await engine.say("hello", idempotency_key="k", request_hash="h")).status is TurnStatus.COMPLETED
    assert len(await engine.transcript()) == 2


async def test_the_same_key_at_once_creates_one_turn(engine: Engine) -> None:
    await engine.run("hello")
    turns = await asyncio.gather(
        *(engine.say("hello", idempotency_key="k", request_hash="h") for _ in range(5)),
    )
    assert len({turn.id for turn in turns}) == 1


async def test_retention_deletes_conversation_and_thread(engine: Engine) -> None:
    await engine.run("hello")
    await engine.execute("update conversations set updated_at = now() - interval '366 days'")
    assert (await sweep(engine.front))["retired"] == 1
    assert await engine.thread_rows() == []
