"""Oria's assistant and the lab's, each on a fresh database."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from tests.support.database import DatabaseUrls
from tests.support.engine import Engine, prepare_lab
from tests.support.oria_engine import OriaEngine
from tests.support.scripted_model import Script, serve_scripted_model


@pytest.fixture
async def script(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Script]:
    """The provider that this process's environment names."""
    async with serve_scripted_model() as script:
        for name, value in script.environ.items():
            monkeypatch.setenv(name, value)
        yield script


@pytest.fixture
async def oria(database_urls: DatabaseUrls, tenant: UUID, script: Script) -> AsyncIterator[OriaEngine]:
    engine = OriaEngine(database_urls, tenant, script=script)
    yield engine
    await engine.close()


@pytest.fixture
async def engine(database_urls: DatabaseUrls, tenant: UUID) -> AsyncIterator[Engine]:
    prepare_lab(database_urls)
    engine = Engine(database_urls, tenant)
    yield engine
    await engine.close()
