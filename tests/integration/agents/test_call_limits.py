"""What one invocation of a specialist may do: 8 model turns and 6 tool calls, anew after each pause.

And the calls beside one that may pause. Agents and tools are found in the registry.
"""

from collections.abc import Sequence

import pytest

from graph.middleware.interactions import REJECTION
from graph.oria.agents import SPECIALISTS
from graph.policy import SPECIALIST_MODEL_CALLS, SPECIALIST_TOOL_CALLS
from oria_runtime.db.pool import Pool
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.models import TurnStatus
from tests.support.engine import USER
from tests.support.oria_engine import OriaEngine
from tests.support.scripted_model import Script, Step, call, call_all, fail, say
from tests.support.tool_case import Ask, Pause
from tests.support.tool_cases import ROWS
from tests.support.tool_registry import discover_tools, list_business_tools, read_definition
from tests.support.tool_run import ANSWER, PRIVATE_REMARK, ToolRun, assert_whole_pairs, list_results
from tests.support.tool_world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAUSING = [(agent, tool) for agent, tool in discover_tools() if isinstance(ROWS[tool].pause, Pause)]


@pytest.fixture
def run(tool_world: World, tool_script: Script, tool_pool: Pool, agent: str, tool: str) -> ToolRun:
    return ToolRun(tool_world, tool_script, tool_pool, agent, ROWS[tool])


def repeatable(run: ToolRun) -> Step:
    """A call that runs and gives its result to the agent, however often."""
    return call(run.case.tool, **run.case.miss.arguments)


def pick_tool(agent: str) -> str:
    """A tool of the agent that has such a call for the person of these tests: its miss is nobody's answer."""
    misses = {tool: ROWS[tool].miss for tool in list_business_tools(agent)}
    return next(tool for tool, miss in misses.items() if miss.card is None and miss.user == USER)


def count_started(run: ToolRun, events: Sequence[object]) -> int:
    """How many calls were executed."""
    return sum("activity.started" in repr(event) and run.case.tool in repr(event) for event in events)


AGENTS = [(agent, pick_tool(agent)) for agent in SPECIALISTS]


@pytest.mark.parametrize(("agent", "tool"), AGENTS, ids=list(SPECIALISTS))
async def test_the_seventh_call_is_refused_without_running_and_the_agent_answers(run: ToolRun) -> None:
    run.script_agent(*[repeatable(run)] * (SPECIALIST_TOOL_CALLS + 1))
    stop = await run.say("Again and again")
    results = list_results(stop.messages)
    assert len(results) == SPECIALIST_TOOL_CALLS + 1 == 7
    assert all("limit" not in result.text for result in results[:-1])
    assert (results[-1].status, "limit" in results[-1].text) == ("error", True)
    assert count_started(run, stop.events) == SPECIALIST_TOOL_CALLS
    assert stop.outcome["text"] == ANSWER
    await run.assert_goes_on()


@pytest.mark.parametrize(("agent", "tool"), AGENTS, ids=list(SPECIALISTS))
async def test_the_ninth_model_turn_is_a_sanitized_failure(run: ToolRun) -> None:
    run.script.on(label=run.label).reply(repeatable(run))
    with pytest.raises(StageFailedError) as failure:
        await run.say("For ever")
    assert (failure.value.code, failure.value.detail) == ("model_call_limit", "the agent went round in circles")
    assert run.script.count(label=run.label) == SPECIALIST_MODEL_CALLS == 8
    again = ToolRun(run.world, run.script, run.pool, run.agent, run.case)
    again.script_agent(*[repeatable(run)] * (SPECIALIST_MODEL_CALLS - 1))
    assert (await again.say("Seven calls, then an answer")).outcome["text"] == ANSWER


@pytest.mark.parametrize(("agent", "tool"), PAUSING)
async def test_a_resume_starts_a_fresh_allowance(run: ToolRun) -> None:
    """Five calls and the one that pauses use the first up; after the answers, six more run and a seventh does not."""
    pause = run.case.pause
    assert isinstance(pause, Pause)
    filler = call(run.case.tool, **{name: {"wrong": "kind"} for name in pause.ask.arguments or {"title": ""}})
    before = [filler] * (SPECIALIST_TOOL_CALLS - 1)
    after = [filler] * (SPECIALIST_TOOL_CALLS + 1)
    run.script_agent(*before, call(run.case.tool, **pause.ask.arguments), *after)
    stop = await run.say("Please do it")
    assert len(stop.interrupts) == 1
    # A model that fails now leaves the agent at work also where the tool would end the turn with its card.
    run.script.on(where=run.is_nested).reply(fail(400))
    asked = run.script.count(label=run.label)
    stop = await run.answer(pause.failing)
    results = list_results(stop.messages)
    assert len(results) == len(before) + 1 + len(after)
    assert ["limit" in result.text for result in results] == [False] * (len(results) - 1) + [True]
    assert stop.outcome["text"] == ANSWER
    # Seven choices with a call, one without, and the answer, which belongs to the eighth turn.
    assert run.script.count(label=run.label) - asked == SPECIALIST_MODEL_CALLS + 1
    await run.assert_goes_on()


@pytest.mark.parametrize(("agent", "tool"), [("task_helper", "task_helper_tool"), ("career_chat", "map_jobs_tool")])
async def test_model_calls_inside_tools_and_retries_do_not_count(run: ToolRun) -> None:
    again = fail(500, retry_after=0.01)
    run.script.on(where=run.is_nested).reply(again, again, fail(400))
    ask = run.case.model
    assert isinstance(ask, Ask)
    made = call(run.case.tool, **ask.arguments)
    run.script_agent(again, *[made] * SPECIALIST_TOOL_CALLS)
    stop = await run.say("Again and again")
    assert run.count_nested() >= SPECIALIST_TOOL_CALLS + 2
    assert [result.status for result in list_results(stop.messages)] == ["error"] * SPECIALIST_TOOL_CALLS
    assert not any("limit" in result.text for result in list_results(stop.messages))
    assert stop.outcome["text"] == ANSWER


@pytest.mark.parametrize("agent", SPECIALISTS)
async def test_what_the_agents_say_may_pause_is_what_can(agent: str) -> None:
    pausing = {tool for owner, tool in PAUSING if owner == agent}
    assert read_definition(agent).interrupting | {"request_clarification_tool"} == pausing


@pytest.mark.parametrize(("agent", "tool"), PAUSING)
async def test_a_call_beside_one_that_may_pause_is_rejected_with_it(run: ToolRun) -> None:
    """For every other tool of the agent, and for the same tool twice; nothing runs, and the agent may go on."""
    pause = run.case.pause
    assert isinstance(pause, Pause)
    pausing = (run.case.tool, pause.ask.arguments)
    others = [tool for owner, tool in discover_tools() if owner == run.agent]
    successes = {tool: ROWS[tool].success for tool in others}
    calls = {tool: ask.ask.arguments if isinstance(ask, Pause) else ask.arguments for tool, ask in successes.items()}
    batches = [batch for tool in others for batch in ([pausing, (tool, calls[tool])], [(tool, calls[tool]), pausing])]
    for number in range(0, len(batches), 3):
        made = batches[number : number + 3]
        run.script_agent(*(call_all(*batch) for batch in made))
        stop = await run.say("Both at once")
        results = list_results(stop.messages)[-2 * len(made) :]
        assert [result.name for result in results] == [tool for batch in made for tool, _ in batch]
        assert {(result.status, result.text) for result in results} == {("error", REJECTION)}
        assert (stop.interrupts, stop.outcome["text"], stop.outcome["cards"]) == ([], ANSWER, [])
        assert stop.activities() == []
    assert (run.count_nested(), run.count_own_transactions()) == (0, 0)
    await run.assert_goes_on()


@pytest.mark.parametrize("agent", SPECIALISTS)
async def test_where_nobody_can_be_asked_calls_run_side_by_side(
    tool_world: World, tool_script: Script, tool_pool: Pool, agent: str
) -> None:
    """Nothing pauses there; each call has its result, cards are shown and the agent answers the rest. Only a handover
    is made alone (test_handover)."""
    calls = [tool for tool in list_business_tools(agent) if isinstance(ROWS[tool].success, Ask)]
    tools = [tool for tool in calls if ROWS[tool].stage == "specialist"]
    run = ToolRun(tool_world, tool_script, tool_pool, agent, ROWS[tools[0]])
    for tool in tools:
        ROWS[tool].prepare(tool_script)
    asks = [ask for tool in tools if isinstance(ask := ROWS[tool].success, Ask)]
    run.script_agent(call_all(*((tool, ask.arguments) for tool, ask in zip(tools, asks, strict=True))))
    run.conversation = run.conversation.with_options(interactions=False)
    stop = await run.say("All at once")
    results = list_results(stop.messages)
    assert {result.name for result in results} == set(tools[: len(results)])
    assert all(result.status == "success" or "limit" in result.text for result in results), results
    assert stop.interrupts == []
    assert_whole_pairs(stop.messages)
    run.assert_nothing_private(stop)
    await run.assert_goes_on()


async def test_the_person_reads_a_safe_text_when_an_agent_goes_round_in_circles(
    tool_world: World, tool_script: Script
) -> None:
    engine = OriaEngine(tool_world.urls, tool_world.tenant_id, script=tool_script)
    label = SPECIALISTS["career_chat"].label
    tool_script.on(label=label).reply(call("get_jobs_tool", job_codes=["NO"]))
    turn = await engine.run("For ever", agent="career_chat")
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["error"]["code"]) == (TurnStatus.FAILED, "model_call_limit")
    assert not {"get_jobs_tool", "limit", PRIVATE_REMARK} & set(turn.outcome["text"].split())
    tool_script.on(label=label).reply(say(ANSWER))
    turn = await engine.run("And now?", agent="career_chat")
    assert (turn.outcome or {})["text"] == ANSWER
    assert_whole_pairs((await engine.state())["messages"])
    await engine.close()
