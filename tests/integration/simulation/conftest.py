"""The engine of a person who practises."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from tests.support.database import DatabaseUrls
from tests.support.scripted_model import Script, serve_scripted_model
from tests.support.simulations import SimulationEngine


@pytest.fixture
async def script(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Script]:
    async with serve_scripted_model() as script:
        for name, value in script.environ.items():
            monkeypatch.setenv(name, value)
        yield script


@pytest.fixture
async def engine(database_urls: DatabaseUrls, tenant: UUID, script: Script) -> AsyncIterator[SimulationEngine]:
    engine = SimulationEngine(database_urls, tenant, script=script)
    yield engine
    await engine.close()
