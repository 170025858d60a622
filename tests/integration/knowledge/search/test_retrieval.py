"""Retrieval: a question in words, its embedding by the index's own model, and what is counted of it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from local.offline_model.wire.server import HttpReply
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.knowledge.evidence import SIMILARITIES, UNMEASURED, find_similarity
from oria_runtime.knowledge.queries import QueryDay, read_query_metrics, write_query
from oria_runtime.knowledge.search import retrieve
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.knowledge.search.conftest import Library, draw
from tests.support.database import create_tenant
from tests.support.scripted_model import Script, Seen, embed_with, fail, serve_scripted_model

ADD_INDEX_SQL = (
    "insert into knowledge_indexes (id, tenant_id, model, address, status) values (%s, %s, 'new', %s, 'active')"
)
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


async def test_a_question_is_compared_by_its_meaning(library: Library, models: Models) -> None:
    await library.add("meaning", "Cycling to the office is paid.", angles=[10])
    retrieval = await retrieve(library.database, models, "May I come by bike?")
    assert [passage.title for passage in retrieval.passages] == ["Meaning"]
    assert retrieval.by_vector


async def test_the_question_is_embedded_by_the_model_of_the_index(
    library: Library, models: Models, script: Script
) -> None:
    """The tenant's configuration may name another one already, whose vectors are not there yet."""
    address = {**models.embedding_address, "model": "an-older-model"}
    await library.execute("update knowledge_indexes set address = %s", Jsonb(address))
    await retrieve(library.database, models, "Holidays?")
    assert [seen.body["model"] for seen in script.requests] == ["an-older-model"]


async def test_without_an_embedding_the_words_are_searched_and_it_is_said(
    library: Library, models: Models, script: Script
) -> None:
    script.on(endpoint="embeddings").reply(fail(400))
    await library.add("words", "The reimbursement of bicycles is generous.", angles=[170])
    await library.add("meaning", "Cycling to the office is paid.", angles=[0])
    retrieval = await retrieve(library.database, models, "reimbursement of bicycles")
    assert [passage.title for passage in retrieval.passages] == ["Words"]
    assert not retrieval.by_vector
    [day] = await read_days(library)
    assert (day.queries, day.text_only, day.empty) == (1, 1, 0)


async def test_without_an_index_nobody_is_asked_for_an_embedding(
    library: Library, models: Models, script: Script
) -> None:
    await library.execute("update knowledge_indexes set status = 'retired'")
    await library.add("words", "The reimbursement of bicycles is generous.")
    retrieval = await retrieve(library.database, models, "reimbursement of bicycles")
    assert (len(retrieval.passages), retrieval.by_vector, script.requests) == (1, True, [])
    [day] = await read_days(library)
    assert day.text_only == 0


async def test_an_index_that_is_switched_meanwhile_is_asked_with_its_own_model(
    library: Library, models: Models, script: Script
) -> None:
    await library.add("old", "Nothing of that.", angles=[0])
    switched = uuid4()

    async def switch(seen: Seen) -> HttpReply:
        await library.execute("update knowledge_indexes set status = 'retired'")
        values = (switched, library.database.tenant_id, Jsonb({**models.embedding_address, "model": "new"}))
        await library.execute(ADD_INDEX_SQL, *values)
        library.index_id = switched
        await library.add("new", "Nothing of that.", angles=[0])
        return await embed_with([draw(0)])(seen)

    script.on(endpoint="embeddings", times=1).reply(switch)
    retrieval = await retrieve(library.database, models, "Whatever")
    assert [passage.title for passage in retrieval.passages] == ["New"]
    assert [seen.body["model"] for seen in script.requests] == [models.embedding_model, "new"]


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


def test_what_is_evidence_depends_on_the_model() -> None:
    for model, least in SIMILARITIES.items():
        assert find_similarity(model) == least
    assert find_similarity("nobody-measured-it") == UNMEASURED


@pytest.mark.parametrize(("degrees", "found"), [(77.5, 1), (78.3, 0)])
async def test_the_threshold_of_the_indexs_model_is_applied(library: Library, degrees: float, found: int) -> None:
    """Cosines of 0.216 and 0.203: above what an unknown model needs, and only one above 0.21."""
    await library.add("near", "Nothing of that.", angles=[degrees])
    assert len(await library.find("question", 0)) == 1
    await library.execute("update knowledge_indexes set model = 'offline-use-multilingual'")
    assert len(await library.find("question", 0)) == found
