"""A tenant, its site and its model, fresh for every test."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from oria_runtime.db.pool import Pool
from tests.support.database import DatabaseUrls
from tests.support.knowledge_refresh import World, open_world


@pytest.fixture
async def world(database_urls: DatabaseUrls, pool: Pool, tenant: UUID) -> AsyncIterator[World]:
    async with open_world(database_urls.app, pool, tenant) as world:
        yield world
