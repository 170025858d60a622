"""A world in which every text that a customer or a person writes holds an order, and agents that work in it."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio

from oria_runtime.db.pool import Pool
from tests.support.database import copy_database
from tests.support.oria_engine import OriaEngine
from tests.support.scripted_model import Script
from tests.support.tool_case import Ask
from tests.support.tool_cases import ROWS
from tests.support.tool_registry import discover_tools
from tests.support.tool_run import ToolRun
from tests.support.tool_world import World, fill_world
from tests.support.untrusted_wire import ORDER

MEMORY: Final = "langgraph.memory_update_decision"
# Tools that ask a model.
DECIDING: Final = [cell for cell in discover_tools() if isinstance(ROWS[cell[1]].model, Ask)]


@pytest.fixture(scope="module")
def tool_world(postgres_server: str, migrated_template: str) -> Iterator[World]:
    with copy_database(postgres_server, migrated_template) as urls:
        yield fill_world(urls, ORDER)


@pytest.fixture
def run(tool_world: World, tool_script: Script, tool_pool: Pool, agent: str, tool: str) -> ToolRun:
    return ToolRun(tool_world, tool_script, tool_pool, agent, ROWS[tool])


@pytest_asyncio.fixture(loop_scope="module")
async def engine(tool_world: World, tool_script: Script) -> AsyncIterator[OriaEngine]:
    engine = OriaEngine(tool_world.urls, tool_world.tenant_id, script=tool_script)
    yield engine
    await engine.close()
