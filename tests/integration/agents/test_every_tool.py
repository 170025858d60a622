"""Every tool of every specialist, in every way that a call can go. The rows are in tests/support/tool_cases.py.

The cells are found in the registry; the table of what they saw is printed at the end of the run with its holes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from oria_runtime.db.pool import Pool, create_pool
from oria_runtime.errors import StageFailedError
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import TurnStatus
from tests.support.database import copy_database
from tests.support.engine import USER
from tests.support.oria_engine import GATE, OriaEngine
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import Script, Seen, Step, call, call_raw, fail, hang, say, serve_scripted_model
from tests.support.tool_case import (
    CANCELLED,
    CELL,
    CLAIMS,
    COLUMNS,
    DATABASE,
    EXCLUDED,
    MALFORMED,
    MISS,
    MODEL,
    RESUMED,
    SUCCESS,
    Ask,
    Pause,
    spoil_arguments,
)
from tests.support.tool_cases import ROWS
from tests.support.tool_registry import can_pause, discover_tools, find_tool_module, list_business_tools
from tests.support.tool_run import STILL_HERE, ToolRun, assert_whole_pairs, list_results
from tests.support.tool_world import World, fill_world

CELLS = [(agent, tool, column) for agent, tool in discover_tools() for column in COLUMNS]
# What a model could try to set; none of it is an argument of any tool.
HIDDEN: Mapping[str, Any] = {"runtime": {"context": "mine"}, "user_id": "p-1", "tenant_id": "other", "state": {}}


@pytest.fixture(scope="module")
def world(postgres_server: str, migrated_template: str) -> Iterator[World]:
    with copy_database(postgres_server, migrated_template) as urls:
        yield fill_world(urls)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(world: World) -> AsyncIterator[Pool]:
    pool = create_pool(world.urls.app, max_size=8)
    async with pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model_server() -> AsyncIterator[Script]:
    async with serve_scripted_model() as served:
        yield served


@pytest.fixture
def script(model_server: Script, monkeypatch: pytest.MonkeyPatch) -> Script:
    """The model, which knows nothing of the test before. The engine finds it by this process's environment."""
    for name, value in model_server.environ.items():
        monkeypatch.setenv(name, value)
    model_server.reset()
    return model_server


@pytest.fixture
def run(world: World, script: Script, pool: Pool, agent: str, tool: str) -> ToolRun:
    return ToolRun(world, script, pool, agent, ROWS[tool])


def break_then(world: World, step: Step) -> Step:
    """The database is gone when the model has chosen: the profile was read before."""

    async def run(seen: Seen) -> Any:
        world.break_database()
        return await step(seen)

    return run


async def check_success(run: ToolRun) -> str:
    stop = await run.succeed()
    run.assert_result(stop, run.success)
    return "shown" if run.success.card is not None else "read"


async def check_miss(run: ToolRun) -> str:
    stop = await run.make(run.case.miss)
    run.assert_result(stop, run.case.miss)
    return "error" if run.case.miss.status == "error" else "nothing"


async def check_database(run: ToolRun) -> str:
    ask = run.case.database
    assert isinstance(ask, Ask)
    with run.world.repaired():
        stop = await run.make(ask, break_then(run.world, call(run.case.tool, **ask.arguments)))
    run.assert_result(stop, ask)
    assert run.count_own_transactions() > 0
    return ask.status if ask.status == "error" else "without"


async def check_model(run: ToolRun) -> str:
    ask = run.case.model
    assert isinstance(ask, Ask)
    run.script.on(where=run.is_nested).reply(fail(400))
    stop = await run.make(ask)
    run.assert_result(stop, ask)
    assert run.count_nested() > 0
    return ask.status if ask.status == "error" else "without"


async def check_malformed(run: ToolRun) -> str:
    """Wrong kinds and missing arguments are refused, invented ones do nothing, what is no JSON ends the turn."""
    spoilt = spoil_arguments(discover_tools()[run.agent, run.case.tool])
    if spoilt:
        run.script_agent(*(call(run.case.tool, **arguments) for arguments in spoilt))
        stop = await run.say("Please do it")
        assert [result.status for result in list_results(stop.messages)] == ["error"] * len(spoilt)
        assert (run.count_nested(), run.count_own_transactions()) == (0, 0)
    await run.assert_goes_on()
    if isinstance(run.case.success, Ask):
        await check_hidden_arguments(run)
    again = ToolRun(run.world, run.script, run.pool, run.agent, run.case)
    with pytest.raises(StageFailedError) as failure:
        await again.make(run.success, call_raw(run.case.tool, '{"half": ['))
    assert failure.value.code == "model_malformed"
    return "error" if spoilt else "ignored"


async def check_hidden_arguments(run: ToolRun) -> None:
    """What the model adds changes nothing of a call."""
    again = ToolRun(run.world, run.script, run.pool, run.agent, run.case)
    stop = await again.make(run.success, call(run.case.tool, **{**run.success.arguments, **HIDDEN}))
    again.assert_result(stop, run.success)


async def check_excluded(run: ToolRun) -> str:
    tool = run.case.tool
    config = {"chatbot": {"agents": {run.agent: {"tool_exclusion": [tool]}}}}
    run.conversation = run.conversation.with_options(config=TenantConfig.model_validate(config))
    stop = await run.make(run.success)
    offered = [seen.tools for seen in run.script.requests if seen.label == run.label and seen.tools]
    if list_business_tools(run.agent) == [tool]:
        assert all(tool in names for names in offered)
        run.assert_result(stop, run.success)
        return "kept"
    assert offered
    assert not any(tool in names for names in offered)
    [result] = list_results(stop.messages)
    assert result.status == "error"
    assert (run.count_nested(), run.count_own_transactions()) == (0, 0)
    assert stop.outcome["cards"] == []
    return "hidden"


async def check_resumed(run: ToolRun) -> str:
    pause = run.case.pause
    assert isinstance(pause, Pause)
    stop = await run.make(pause.ask)
    assert len(stop.questions) == len(pause.answers)
    run.assert_nothing_private(stop)
    before = len(run.script.requests)
    stop = await run.answer(pause.answers)
    run.assert_result(stop, pause.ask)
    later = {seen.label or seen.endpoint for seen in run.script.requests[before:]}
    assert later <= pause.labels | ({run.label} if pause.ask.card is None else set())
    assert [message.type for message in stop.messages[:5]] == ["human", "ai", "tool", "ai", "human"]
    return "resumed"


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
    event, before = await engine.next_stage("specialist"), await engine.thread_rows()
    running = asyncio.create_task(engine.stage(event, engine.worker()))
    async with asyncio.timeout(10):
        while not wait():
            await asyncio.sleep(0.01)
    await cancel_turn(engine.front, engine.database, USER, turn.id)
    assert await running == {"result": "cancelled"}
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


CHECKS: Mapping[str, Callable[[ToolRun], Awaitable[str]]] = {
    SUCCESS: check_success,
    MISS: check_miss,
    DATABASE: check_database,
    MODEL: check_model,
    MALFORMED: check_malformed,
    EXCLUDED: check_excluded,
    RESUMED: check_resumed,
    CANCELLED: check_cancelled,
}


async def check_hole(run: ToolRun, column: str) -> str:
    """What the hole claims is true of a call that succeeds."""
    await run.succeed()
    if column == MODEL:
        assert run.count_nested() == 0, "it asks a model"
    if column == DATABASE:
        assert run.count_own_transactions() == 0, "it reads the database"
    if column == RESUMED:
        assert not can_pause(find_tool_module(discover_tools()[run.agent, run.case.tool])), "it can pause"
    return "-"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("agent", "tool", "column"), CELLS)
async def test_every_tool(run: ToolRun, column: str, record_property: Callable[[str, object], None]) -> None:
    hole = run.case.find_hole(column)
    seen = await (check_hole(run, column) if hole else CHECKS[column](run))
    if column != CANCELLED:
        await run.assert_goes_on()
    record_property(CELL, [run.agent, run.case.tool, column, seen])


def test_every_tool_of_the_registry_has_a_row_and_every_row_a_tool() -> None:
    assert {tool for _, tool in discover_tools()} == set(ROWS)


@pytest.mark.parametrize("case", ROWS.values(), ids=list(ROWS))
def test_every_hole_has_a_reason_and_no_other_column_has_one(case: Any) -> None:
    holes = {column: hole for column in COLUMNS if (hole := case.find_hole(column))}
    assert set(holes) <= set(CLAIMS)
    assert all(len(hole.because.split()) >= 4 for hole in holes.values())
