"""The engine on a fresh database."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from tests.support.database import DatabaseUrls
from tests.support.engine import Engine, prepare_lab


@pytest.fixture
async def engine(database_urls: DatabaseUrls, tenant: UUID) -> AsyncIterator[Engine]:
    prepare_lab(database_urls)
    engine = Engine(database_urls, tenant)
    yield engine
    await engine.close()
