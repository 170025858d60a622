"""What is counted of searches, for whom and how long; never the question."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.knowledge.queries import QueryDay, read_query_metrics, write_query
from oria_runtime.knowledge.search import retrieve
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.knowledge.search.conftest import Library, draw
from tests.support.database import create_tenant
from tests.support.scripted_model import Script, embed_with, serve_scripted_model

MOVE_SQL = "update knowledge_queries set at = at - make_interval(days => %s)"


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    """A model that embeds every question at an angle of 0."""
    async with serve_scripted_model() as script:
        script.on(endpoint="embeddings").reply(embed_with([draw(0)]))
        yield script


@pytest.fixture
async def models(script: Script, library: Library) -> Models:
    """The tenant's models; the library's index is of their embedding model."""
    models = build_models(ModelSettings(), TenantConfig(), environ=script.environ)
    await library.execute("update knowledge_indexes set address = %s", Jsonb(models.embedding_address))
    return models


async def read_days(library: Library, days: int = 1) -> list[QueryDay]:
    async with library.database.transaction() as connection:
        return await read_query_metrics(connection, datetime.now(UTC) - timedelta(days=days))


@pytest.mark.parametrize("question", ["", "  ", "\x00"])
async def test_no_question_asks_nobody_and_is_not_counted(
    library: Library, models: Models, script: Script, question: str
) -> None:
    retrieval = await retrieve(library.database, models, question)
    assert (retrieval.passages, script.requests, await read_days(library)) == ([], [], [])


async def test_searches_are_counted_without_their_question(library: Library, models: Models) -> None:
    document = await library.add("meaning", "Cycling to the office is paid.", angles=[10])
    for question in ("secret word", "reimbursement"):
        await retrieve(library.database, models, question)
    await library.execute("update knowledge_documents set status = 'gone' where id = %s", document)
    await retrieve(library.database, models, "another secret")
    [day] = await read_days(library)
    assert (day.day, day.queries, day.empty, day.text_only) == (datetime.now(UTC).date(), 3, 1, 0)
    assert list(day.hits.values()) == [2]
    assert 0 < day.median_milliseconds <= day.p95_milliseconds
    async with library.database.transaction() as connection:
        rows = await (await connection.execute("select * from knowledge_queries")).fetchall()
    assert "secret" not in str(rows)


async def test_metrics_are_of_the_tenant_and_by_day(library: Library, pool: Pool) -> None:
    source = uuid4()
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    for database, times in ((library.database, 2), (other, 1)):
        async with database.transaction() as connection:
            for _ in range(times):
                await write_query(connection, milliseconds=5, by_text=1, by_vector=0, passages=1, source_ids={source})
    await library.execute(MOVE_SQL, 3)
    async with library.database.transaction() as connection:
        await write_query(connection, milliseconds=9, by_text=0, by_vector=None, passages=0, source_ids=set())
    old, new = await read_days(library, 10)
    assert (new.day - old.day, old.queries, new.queries) == (timedelta(days=3), 2, 1)
    assert (old.hits, new.hits, new.empty, new.text_only) == ({source: 2}, {}, 1, 1)
    assert await read_days(library, 1) == [new]


async def test_metrics_go_after_ninety_days(library: Library) -> None:
    for moved in (1, 89):  # in the end one is 90 days old, the other 89
        async with library.database.transaction() as connection:
            await write_query(connection, milliseconds=5, by_text=0, by_vector=0, passages=0, source_ids=set())
        await library.execute(MOVE_SQL, moved)
    async with library.database.transaction() as connection:
        await write_query(connection, milliseconds=5, by_text=0, by_vector=0, passages=0, source_ids=set())
    assert [day.queries for day in await read_days(library, 200)] == [1, 1]
