"""Conversations in which everything happens, in any order: models see whole histories, each turn ends once.

The order is drawn from a seed; ORIA_SEED repeats a run of one's own.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import Turn, TurnStatus
from tests.support.engine import USER
from tests.support.oria_engine import (
    CAREER_CHAT,
    FINDER_TOOL,
    GATE,
    PROFILE_TOOL,
    TRAINING_FINDER,
    OriaEngine,
    career_chat,
    training_finder,
)
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import call, call_all, choose, hang, say

TURNS = 40
SEEDS = [int(os.environ["ORIA_SEED"])] if "ORIA_SEED" in os.environ else [1]
Play = Callable[[OriaEngine, str], Awaitable[Turn]]


async def chat(oria: OriaEngine, text: str) -> Turn:
    career_chat(oria.script, f"Answer to {text}.")
    return await oria.run(text)


async def chat_with_tool(oria: OriaEngine, text: str) -> Turn:
    career_chat(oria.script, f"Answer to {text}.")
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(call(PROFILE_TOOL, need_basic_info=True))
    return await oria.run(text)


async def search(oria: OriaEngine, text: str) -> Turn:
    training_finder(oria.script)
    return await oria.run(text)


async def refused_batch(oria: OriaEngine, text: str) -> Turn:
    training_finder(oria.script)
    oria.script.on(label=TRAINING_FINDER, where=lambda seen: not seen.tools).reply(say("One at a time."))
    both = call_all((FINDER_TOOL, {"query": "Python", "is_learning_plan": False}), ("get_trainings_tool", {}))
    oria.script.on(label=TRAINING_FINDER, tool=FINDER_TOOL).reply(both, say("private"))
    return await oria.run(text)


async def pause(oria: OriaEngine, text: str) -> Turn:
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run(text)
    assert turn.status is TurnStatus.AWAITING_INPUT
    return turn


async def plan(oria: OriaEngine, text: str) -> Turn:
    turn = await pause(oria, text)
    await oria.answer_each(turn, "Reports", "", "A day")
    await oria.drain(oria.worker())
    return await oria.turn(turn.id)


async def plan_cancelled(oria: OriaEngine, text: str) -> Turn:
    turn = await oria.answer(await pause(oria, text), cancel=True)
    oria.bus.events.clear()
    return turn


async def plan_replaced(oria: OriaEngine, text: str) -> Turn:
    paused = await pause(oria, text)
    oria.script.rules.clear()
    career_chat(oria.script, "Instead.")
    turn = await oria.say(f"{text} instead", on_conflict="interrupt")
    await oria.drain()
    assert (await oria.turn(paused.id)).status is TurnStatus.CANCELLED
    return await oria.turn(turn.id)


async def plan_fails_after_the_answers(oria: OriaEngine, text: str) -> Turn:
    turn = await pause(oria, text)
    await oria.answer_each(turn, "Reports", "None", "A day")
    event = await oria.next_stage("specialist")
    oria.script.on(endpoint="embeddings").reply(hang())
    await oria.stage(event, oria.worker(), seconds=0.5)
    return await oria.turn(turn.id)


async def blocked(oria: OriaEngine, text: str) -> Turn:
    oria.script.on(label=GATE).reply(choose("block"))
    return await oria.run(text)


async def doubtful(oria: OriaEngine, text: str) -> Turn:
    oria.script.on(label=GATE).reply(choose("doubt"))
    return await oria.run(text)


async def late(oria: OriaEngine, text: str) -> Turn:
    career_chat(oria.script, "Never said.")
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL).reply(call(PROFILE_TOOL, need_basic_info=True), hang())
    turn = await oria.say(text)
    await oria.stage(await oria.next_stage("specialist"), oria.worker(), seconds=0.5)
    return await oria.turn(turn.id)


async def cancelled(oria: OriaEngine, text: str) -> Turn:
    training_finder(oria.script)
    oria.script.on(endpoint="embeddings").reply(hang())
    turn = await oria.say(text)
    running = asyncio.create_task(oria.stage(await oria.next_stage("specialist"), oria.worker()))
    before = oria.script.count(endpoint="embeddings")
    while oria.script.count(endpoint="embeddings") == before:
        await asyncio.sleep(0.01)
    await cancel_turn(oria.front, oria.database, USER, turn.id)
    await running
    return await oria.turn(turn.id)


async def cancelled_between_stages(oria: OriaEngine, text: str) -> Turn:
    turn = await oria.say(text)
    await oria.next_stage("supervisor")
    return await cancel_turn(oria.front, oria.database, USER, turn.id)


PLAYS: dict[Play, TurnStatus] = {
    chat: TurnStatus.COMPLETED,
    chat_with_tool: TurnStatus.COMPLETED,
    search: TurnStatus.COMPLETED,
    refused_batch: TurnStatus.COMPLETED,
    plan: TurnStatus.COMPLETED,
    plan_cancelled: TurnStatus.CANCELLED,
    plan_replaced: TurnStatus.COMPLETED,
    plan_fails_after_the_answers: TurnStatus.FAILED,
    blocked: TurnStatus.BLOCKED,
    doubtful: TurnStatus.BLOCKED,
    late: TurnStatus.FAILED,
    cancelled: TurnStatus.CANCELLED,
    cancelled_between_stages: TurnStatus.CANCELLED,
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("responses", [True, False], ids=["responses", "completions"])
async def test_whatever_happens_models_see_whole_histories(oria: OriaEngine, seed: int, responses: bool) -> None:
    profile = {"use_responses_api": responses}
    await oria.configure({"models": {"mini": profile, "large": profile}})
    await oria.add_person()
    await oria.add_trainings(8)
    chance = random.Random(seed)
    ended = Counter[str]()
    for number in range(TURNS):
        play = chance.choice(list(PLAYS))
        oria.script.rules.clear()
        before = len(oria.script.requests)
        turn = await play(oria, f"Message {number}")
        oria.bus.events.clear()
        told = f"seed {seed}, turn {number}, {play.__name__}"
        assert turn.status is PLAYS[play], f"{told}: {turn.outcome}"
        for seen in oria.script.requests[before:]:
            if seen.label in (CAREER_CHAT, TRAINING_FINDER):
                assert_whole_history(seen)
        ends = [kind for kind in await oria.kinds(turn.id) if kind.startswith("run.") and kind != "run.accepted"]
        assert len(ends) == 1, told
        ended[turn.status] += 1
    assert len(ended) == 4
    said = [message.role for message in await oria.transcript()]
    assert said.count("user") >= TURNS
