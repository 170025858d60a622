"""Whatever is raised under a tool ends as its one stable result (CASES 35), and a provider's bad answers do too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from oria_runtime.db.pool import Connection, Pool, TenantDatabase
from tests.support.scripted_model import Script, Step, cut, give, malformed, refuse, say
from tests.support.tool_case import Ask
from tests.support.tool_cases import ROWS, fail_with
from tests.support.tool_registry import discover_tools, read_definition
from tests.support.tool_run import ToolRun, list_results
from tests.support.tool_world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")
# One agent for each tool: what is raised does not know the agent.
FIRST = {tool: (agent, tool) for agent, tool in reversed(list(discover_tools()))}
# Not what works in another stage: the agent that goes on after it needs the database itself.
READING = [cell for tool, cell in FIRST.items() if isinstance(ROWS[tool].database, Ask) and not ROWS[tool].table]
ASKING = [cell for tool, cell in FIRST.items() if isinstance(ROWS[tool].model, Ask)]
SECRET = "what the driver quotes of a row"
ERRORS = [ValueError(SECRET), KeyError(SECRET), TimeoutError(SECRET), psycopg.DataError(SECRET)]
ANSWERS = {
    "refused": refuse(SECRET),
    "cut": cut(SECRET),
    "no JSON": malformed(),
    "another object": give({"secret": SECRET}),
    "a text": say(SECRET),
    "nothing": say(""),
}


class FaultyDatabase(TenantDatabase):
    """A database whose driver raises this inside every transaction but the first, which reads the profile."""

    def __init__(self, pool: Pool, world: World, error: Exception) -> None:
        super().__init__(pool, world.tenant_id)
        self.error = error
        self.transactions = 0

    @asynccontextmanager
    async def transaction(self, *, snapshot: bool = False) -> AsyncIterator[Connection]:
        self.transactions += 1
        async with super().transaction() as connection:
            if self.transactions > 1:
                raise self.error
            yield connection


@pytest.fixture
def run(tool_world: World, tool_script: Script, tool_pool: Pool, agent: str, tool: str) -> ToolRun:
    return ToolRun(tool_world, tool_script, tool_pool, agent, ROWS[tool])


@pytest.mark.parametrize(("agent", "tool"), READING)
async def test_what_is_raised_in_a_tool_is_its_stable_result(run: ToolRun, caplog: pytest.LogCaptureFixture) -> None:
    ask = run.case.database
    assert isinstance(ask, Ask)
    for error in ERRORS:
        again = ToolRun(run.world, run.script, run.pool, run.agent, run.case)
        faulty = FaultyDatabase(run.pool, run.world, error)
        again.conversation = again.conversation.with_options(database=faulty)
        stop = await again.make(ask)
        again.assert_result(stop, state_result(run, ask, error))
        assert faulty.transactions > 1
        assert SECRET not in repr([stop, caplog.text, *(record.__dict__ for record in caplog.records)])
        again.conversation = again.conversation.with_options(database=run.database)
    await again.assert_goes_on()


def state_result(run: ToolRun, ask: Ask, error: Exception) -> Ask:
    """What a failing database makes of the call. A tool that goes on without it does so for its driver's errors only:
    a fault of another kind ends at its agent's boundary."""
    boundary = read_definition(run.agent).errors.get(run.case.tool)
    return ask if isinstance(error, psycopg.Error) or boundary is None else fail_with(boundary, ask)


@pytest.mark.parametrize(("agent", "tool"), ASKING)
async def test_a_bad_answer_of_a_model_ends_in_the_tool(run: ToolRun, caplog: pytest.LogCaptureFixture) -> None:
    """The tool fails as for a model that is away, or goes on without; the answer itself is shown to nobody."""
    stated = run.case.model
    assert isinstance(stated, Ask)
    for answer, step in ANSWERS.items():
        run.script.reset()
        again = ToolRun(run.world, run.script, run.pool, run.agent, run.case)
        run.script.on(where=lambda seen: run.is_nested(seen) and seen.endpoint != "embeddings").reply(step)
        stop = await again.make(stated)
        [result] = list_results(stop.messages)
        assert result.status == "success" or result.text == stated.says, answer
        if not is_text(run, step):
            assert SECRET not in repr([stop, caplog.text, *(record.__dict__ for record in caplog.records)]), answer
    await again.assert_goes_on()


def is_text(run: ToolRun, step: Step) -> bool:
    """Guidance is free text: what a model says there is the answer."""
    texts = [ANSWERS[name] for name in ("another object", "a text")]
    return run.case.tool == "task_helper_tool" and step in texts
