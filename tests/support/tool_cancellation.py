"""A call that is cancelled in its middle, and a pause that is cancelled, in the engine with a real saver."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import TurnStatus
from tests.support.engine import USER
from tests.support.oria_engine import GATE, OriaEngine
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import Seen, Step, call, hang, say
from tests.support.tool_case import Ask, Pause
from tests.support.tool_registry import discover_tools
from tests.support.tool_run import STILL_HERE, ToolRun, assert_whole_pairs
from tests.support.tool_world import World


async def check_cancelled(run: ToolRun) -> str:
    """In the middle of the call, in the engine: its buffer is dropped. And a pause that is cancelled.

    Half a second passes until a stage sees its cancellation, and what follows is the engine's part and the tool's: one
    agent for each tool.
    """
    first = next(agent for agent, tool in discover_tools() if tool == run.case.tool)
    if run.agent != first:
        return f"as {first}"
    async with open_engine(run) as engine:
        await cancel_call(run, engine)
    if not isinstance(run.case.pause, Pause):
        return "no trace"
    async with open_engine(run) as engine:
        await cancel_pause(run, engine, run.case.pause)
    return "no trace, pause too"


@asynccontextmanager
async def open_engine(run: ToolRun) -> AsyncIterator[OriaEngine]:
    """A conversation in the engine, with workers and a saver as in production."""
    engine = OriaEngine(run.world.urls, run.world.tenant_id, script=run.script)
    try:
        yield engine
    finally:
        await engine.close()


async def cancel_call(run: ToolRun, engine: OriaEngine) -> None:
    wait, held = hold_call(run)
    turn = await engine.say("Please do it", agent=run.agent)
    event, before = await engine.next_stage(run.case.stage), await engine.thread_rows()
    running = asyncio.create_task(engine.stage(event, engine.worker()))
    async with asyncio.timeout(10):
        while not wait():
            await asyncio.sleep(0.01)
    asked = len(run.script.requests)
    await cancel_turn(engine.front, engine.database, USER, turn.id)
    assert await running == {"result": "cancelled"}
    assert len(run.script.requests) == asked
    for connection in held:
        connection.close()
    assert (await engine.turn(turn.id)).status is TurnStatus.CANCELLED
    assert await engine.thread_rows() == before
    await assert_engine_goes_on(run, engine)


def hold_call(run: ToolRun) -> tuple[Callable[[], bool], list[Any]]:
    """Make the call wait for what it needs: a model, else the database, else the agent after it. How to see it wait."""
    script = run.script
    held: list[Any] = []
    if isinstance(run.case.success, Pause):
        run.script_agent(call(run.case.tool, **run.case.miss.arguments), hang())
        return lambda: script.count(label=run.label) > 1, held
    made = call(run.case.tool, **run.case.success.arguments)
    if isinstance(run.case.model, Ask) and run.case.model.interactions:
        run.script_agent(made)
        script.on(where=lambda seen: run.is_nested(seen) and seen.label != GATE).reply(hang())
        return lambda: any(run.is_nested(seen) and seen.label != GATE for seen in script.requests), held
    if isinstance(run.case.database, Ask):
        run.script_agent(lock_then(run.world, made, held))
        return lambda: run.world.count_waiting() > 0, held
    run.script_agent(made, hang())
    return lambda: script.count(label=run.label) > 1, held


def lock_then(world: World, step: Step, held: list[Any]) -> Step:
    async def run(seen: Seen) -> Any:
        held.append(world.lock())
        return await step(seen)

    return run


async def cancel_pause(run: ToolRun, engine: OriaEngine, pause: Pause) -> None:
    """CASES 26 and 33: nothing more is done, and the pending call is closed."""
    run.script.rules.clear()
    run.case.prepare(run.script)
    run.script_agent(call(run.case.tool, **pause.ask.arguments))
    turn = await engine.run("Please do it", agent=run.agent)
    assert turn.status is TurnStatus.AWAITING_INPUT
    asked = len(run.script.requests)
    assert (await engine.answer(turn, cancel=True)).status is TurnStatus.CANCELLED
    assert await engine.drain() == []
    assert len(run.script.requests) == asked
    await assert_engine_goes_on(run, engine)


async def assert_engine_goes_on(run: ToolRun, engine: OriaEngine) -> None:
    """The next turn of the conversation completes with whole pairs."""
    run.script.rules.clear()
    run.script.on(label=run.label).reply(say(STILL_HERE))
    before = len(run.script.requests)
    turn = await engine.run("And now?", agent=run.agent)
    assert turn.outcome is not None
    assert turn.outcome["text"] == STILL_HERE
    assert_whole_pairs((await engine.state())["messages"])
    for seen in run.script.requests[before:]:
        if seen.label == run.label:
            assert_whole_history(seen, last="And now?")
