"""Fixtures of one world for a whole module, so that a test costs its own turns only.

Its tests run in the loop of the module: `pytestmark = pytest.mark.asyncio(loop_scope="module")`. What they need is
imported when they run, because this is a plugin of every run.
"""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from oria_runtime.db.pool import Pool, create_pool
from tests.support.database import copy_database

if TYPE_CHECKING:
    from tests.support.scripted_model import Script
    from tests.support.tool_world import World


@pytest.fixture(scope="module")
def tool_world(postgres_server: str, migrated_template: str) -> "Iterator[World]":
    """The world of tests.support.tool_world in a database of the module's own."""
    from tests.support.tool_world import fill_world

    with copy_database(postgres_server, migrated_template) as urls:
        yield fill_world(urls)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tool_pool(tool_world: "World") -> AsyncIterator[Pool]:
    """Its pool of the application role."""
    pool = create_pool(tool_world.urls.app, max_size=8)
    async with pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tool_model_server() -> "AsyncIterator[Script]":
    """The scripted model of the module; use `tool_script`."""
    from tests.support.scripted_model import serve_scripted_model

    async with serve_scripted_model() as served:
        yield served


@pytest.fixture
def tool_script(tool_model_server: "Script", monkeypatch: pytest.MonkeyPatch) -> "Script":
    """The model, which knows nothing of the test before. An engine finds it by this process's environment."""
    for name, value in tool_model_server.environ.items():
        monkeypatch.setenv(name, value)
    tool_model_server.reset()
    return tool_model_server
