"""Oria's stages that fail, in every way: the thread is as before, and the next turn shows models whole histories.

A provider refuses a call without its result and two messages of one speaker in a row, so a half-written turn would
make every later one fail (CASES 33).
"""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from oria_runtime.models.errors import ModelError
from oria_runtime.publisher import BusEvent
from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import Turn, TurnStatus
from oria_runtime.turns.preferences import read_preferences
from tests.support.engine import USER
from tests.support.oria_engine import (
    CAREER_CHAT,
    FINDER_TOOL,
    GATE,
    PROFILE_TOOL,
    SUPERVISOR,
    TRAINING_FINDER,
    OriaEngine,
    career_chat,
    training_finder,
)
from tests.support.scripted_model import (
    Script,
    Step,
    call,
    call_all,
    choose,
    cut,
    drop,
    fail,
    hang,
    malformed,
    refuse,
    say,
)


async def reach(oria: OriaEngine, stage: str, message: str = "Python trainings") -> tuple[Turn, BusEvent, list[Any]]:
    """A turn after a first good one, up to the event of a stage; with the thread's rows before it runs."""
    rules = list(oria.script.rules)
    oria.script.rules.clear()
    career_chat(oria.script, "Hello.", profile=True)
    await oria.add_person()
    await oria.run("Hello")
    oria.script.rules[:] = rules
    turn = await oria.say(message)
    return turn, await oria.next_stage(stage), await oria.thread_rows()


async def assert_failed_without_trace(oria: OriaEngine, turn: Turn, code: str, before: list[Any]) -> None:
    turn = await oria.turn(turn.id)
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["error"]["code"]) == (TurnStatus.FAILED, code)
    assert await oria.thread_rows() == before
    assert (await oria.transcript())[-1].text == turn.outcome["text"]
    oria.script.rules.clear()
    await oria.assert_goes_on()


def hang_gate(script: Script) -> None:
    script.on(label=GATE).reply(hang())


def hang_supervisor(script: Script) -> None:
    script.on(label=SUPERVISOR).reply(hang())


def hang_answer(script: Script) -> None:
    """After a tool call and its result."""
    career_chat(script, "")
    script.on(label=CAREER_CHAT, tool=PROFILE_TOOL).reply(call(PROFILE_TOOL, need_basic_info=True), hang())


def hang_tool(script: Script) -> None:
    training_finder(script)
    script.on(endpoint="embeddings").reply(hang())


def hang_stream(script: Script) -> None:
    """In the middle of the streamed public answer."""
    career_chat(script, "A long answer in pieces " * 20)
    script.on(label=CAREER_CHAT, where=lambda seen: not seen.tools).reply(say("piece " * 50, pace=0.1))


@pytest.mark.parametrize(
    ("stage", "prepare"),
    [
        ("gate", hang_gate),
        ("supervisor", hang_supervisor),
        ("specialist", hang_answer),
        ("specialist", hang_tool),
        ("specialist", hang_stream),
    ],
)
async def test_a_stage_that_passes_its_deadline_in_band_leaves_no_trace(
    oria: OriaEngine, stage: str, prepare: Callable[[Script], None]
) -> None:
    prepare(oria.script)
    turn, event, before = await reach(oria, stage)
    assert await oria.stage(event, oria.worker(), seconds=1.0) == {"result": "failed"}
    await assert_failed_without_trace(oria, turn, "deadline", before)


@pytest.mark.parametrize("prepare", [hang_answer, hang_tool, hang_stream])
async def test_a_cancel_in_the_middle_of_a_specialist_leaves_no_trace(
    oria: OriaEngine, prepare: Callable[[Script], None]
) -> None:
    prepare(oria.script)
    turn, event, before = await reach(oria, "specialist")
    running = asyncio.create_task(oria.stage(event, oria.worker()))
    await oria.asked(endpoint="embeddings") if prepare is hang_tool else await oria.asked(label=CAREER_CHAT)
    await asyncio.sleep(0.5)
    assert (await cancel_turn(oria.front, oria.database, USER, turn.id)).status is TurnStatus.RUNNING
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await running == {"result": "cancelled"}
    assert loop.time() - started < 2, "a second, with slack"
    assert (await oria.turn(turn.id)).status is TurnStatus.CANCELLED
    assert await oria.thread_rows() == before
    oria.script.rules.clear()
    await oria.assert_goes_on()


async def test_a_node_that_raises_leaves_no_trace(oria: OriaEngine) -> None:
    """The profile cannot be read, outside of any tool."""
    career_chat(oria.script, "Never said.")
    turn, event, before = await reach(oria, "specialist")
    with psycopg.connect(oria.urls.owner, autocommit=True) as owner:
        owner.execute("alter table oria.people rename to gone")
        assert await oria.stage(event, oria.worker()) == {"result": "failed"}
        owner.execute("alter table oria.gone rename to people")
    await assert_failed_without_trace(oria, turn, "failed", before)


@pytest.mark.parametrize(
    "step",
    [fail(400), refuse(), cut(), malformed(), drop(), say("")],
    ids=["400", "refuse", "cut", "malformed", "drop", "empty"],
)
async def test_an_answer_that_is_none_after_a_tool_call_leaves_no_trace(oria: OriaEngine, step: Step) -> None:
    career_chat(oria.script, "")
    oria.script.on(label=CAREER_CHAT).reply(step)
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(call(PROFILE_TOOL, need_basic_info=True))
    turn, event, before = await reach(oria, "specialist")
    assert await oria.stage(event, oria.worker()) == {"result": "failed"}
    failed = await oria.turn(turn.id)
    assert failed.outcome is not None
    await assert_failed_without_trace(oria, turn, failed.outcome["error"]["code"], before)


@pytest.mark.parametrize("responses", [True, False], ids=["responses", "completions"])
async def test_two_calls_at_once_beside_a_pausing_one_are_both_answered_and_not_run(
    oria: OriaEngine, responses: bool
) -> None:
    """CASES 26 and 39: a refused call is never executed, and each call id has its result.

    Career Chat, which has only one of the two tools, is shown neither half of a pair afterwards.
    """
    profile = {"use_responses_api": responses}
    await oria.configure({"models": {"mini": profile, "large": profile}})
    both = call_all((FINDER_TOOL, {"query": "Python", "is_learning_plan": False}), ("get_trainings_tool", {}))
    training_finder(oria.script)
    oria.script.on(label=TRAINING_FINDER, tool=FINDER_TOOL).reply(both, say("private"))
    oria.script.on(label=TRAINING_FINDER, where=lambda seen: not seen.tools).reply(say("One at a time."))
    turn = await oria.run("Python trainings")
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["text"]) == (TurnStatus.COMPLETED, "One at a time.")
    assert oria.script.count(endpoint="embeddings") == 0
    kept = [message.type for message in (await oria.state())["messages"]]
    assert kept == ["human", "ai", "tool", "tool", "ai"]
    await oria.assert_goes_on()


async def test_a_pause_that_is_cancelled_runs_nothing_more_and_the_next_turn_is_whole(oria: OriaEngine) -> None:
    """CASES 26: what the person turned down is never executed."""
    await oria.add_trainings(3)
    training_finder(oria.script, plan=True, questions=True)
    paused = await oria.run("I want a plan")
    assert paused.status is TurnStatus.AWAITING_INPUT
    asked = len(oria.script.requests)
    assert (await oria.answer(paused, cancel=True)).status is TurnStatus.CANCELLED
    assert await oria.drain() == []
    assert len(oria.script.requests) == asked
    await oria.assert_goes_on()
    assert oria.script.count(endpoint="embeddings") == 0


async def test_a_cancel_while_answers_are_judged_ends_the_turn(oria: OriaEngine) -> None:
    training_finder(oria.script, plan=True, questions=True)
    paused = await oria.run("I want a plan")
    oria.script.on(label=GATE).reply(hang())
    before = await oria.thread_rows()
    await oria.answer_each(paused, "Reports", "", "")
    running = asyncio.create_task(oria.stage(await oria.next_stage("gate"), oria.worker()))
    await oria.asked(label=GATE, text="Reports")
    await cancel_turn(oria.front, oria.database, USER, paused.id)
    assert await running == {"result": "cancelled"}
    assert (await oria.turn(paused.id)).status is TurnStatus.CANCELLED
    assert await oria.thread_rows() == before
    oria.script.rules.clear()
    await oria.assert_goes_on()


async def test_a_memory_update_that_fails_leaves_the_turn_the_list_and_its_cost(oria: OriaEngine) -> None:
    career_chat(oria.script, "Hello.")
    oria.script.on(label="langgraph.memory_update_decision").reply(choose("update"))
    oria.script.on(label="langgraph.memory_update_generation").reply(fail(400))
    turn = await oria.say("I prefer short answers")
    await oria.next_stage("supervisor")
    approved = next(event for event in oria.bus.history if event.detail_type == "turn.approved")
    with pytest.raises(ModelError):
        await oria.memory(approved, oria.worker())
    assert list((await read_preferences(oria.database, USER)).items) == []
    assert (await oria.usage(turn.id))["langgraph.memory_update_decision"]["calls"] == 1
    oria.bus.events = [event for event in oria.bus.history if event.detail_type == "turn.stage"][-1:]
    await oria.drain()
    assert (await oria.turn(turn.id)).status is TurnStatus.COMPLETED


async def test_a_specialist_that_fails_after_the_answers_keeps_neither_question_nor_answer(oria: OriaEngine) -> None:
    await oria.add_trainings(3)
    training_finder(oria.script, plan=True, questions=True)
    paused = await oria.run("I want a plan")
    assert paused.outcome is not None
    await oria.answer_each(paused, *["Reports"] * len(paused.outcome["interaction"]["questions"]))
    event = await oria.next_stage("specialist")
    before = await oria.thread_rows()
    oria.script.on(endpoint="embeddings").reply(hang())
    assert await oria.stage(event, oria.worker(), seconds=1.0) == {"result": "failed"}
    await assert_failed_without_trace(oria, paused, "deadline", before)
