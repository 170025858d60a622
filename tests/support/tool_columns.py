"""The columns of the table of tools: what is done for a cell, what must come of it, and the word for the table."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from oria_runtime.errors import StageFailedError
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.scripted_model import Seen, Step, call, call_raw, fail
from tests.support.tool_cancellation import check_cancelled
from tests.support.tool_case import (
    CANCELLED,
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
from tests.support.tool_registry import can_pause, discover_tools, find_tool_module, list_business_tools
from tests.support.tool_run import ToolRun, list_results
from tests.support.tool_world import World

# What a model could try to set; none of it is an argument of any tool.
HIDDEN: Mapping[str, Any] = {"runtime": {"context": "mine"}, "user_id": "p-1", "tenant_id": "other", "state": {}}


def break_then(world: World, step: Step, table: str = "") -> Step:
    """The database is gone when the model has chosen: the profile was read before."""

    async def run(seen: Seen) -> Any:
        world.break_database(table)
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
    with run.world.repaired(run.case.table):
        stop = await run.make(ask, break_then(run.world, call(run.case.tool, **ask.arguments), run.case.table))
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
    before, reads = len(run.script.requests), run.count_own_transactions()
    stop = await run.answer(pause.answers)
    run.assert_result(stop, pause.ask)
    own = {run.label: 2} if pause.ask.card is None else {}
    assert Counter(seen.label for seen in run.script.requests[before:]) == Counter(pause.labels) + Counter(own)
    assert run.count_own_transactions() - reads == pause.reads
    assert [message.type for message in stop.messages[:5]] == ["human", "ai", "tool", "ai", "human"]
    return "resumed"


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
