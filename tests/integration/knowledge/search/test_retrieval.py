"""Questions in words: which model embeds them, what is found without one, and what is counted."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from local.offline_model.wire.server import HttpReply
from oria_runtime.knowledge.queries import read_query_metrics
from oria_runtime.knowledge.search import retrieve
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.knowledge.search.conftest import Library, draw
from tests.support.knowledge import add_source
from tests.support.scripted_model import Script, Seen, embed_with, fail, serve_scripted_model

ADDRESS_SQL = "update knowledge_indexes set address = %s"
RETIRE_SQL = "update knowledge_indexes set status = 'retired'"
ACTIVATE_SQL = "insert into knowledge_indexes (tenant_id, model, address, status) values (%s, %s, %s, 'active')"
COUNTED_SQL = "select by_text, by_vector, passages, source_ids, milliseconds > 0 as timed from knowledge_queries"


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with serve_scripted_model() as script:
        yield script


@pytest.fixture
def models(script: Script) -> Models:
    return build_models(ModelSettings(), TenantConfig(), environ=script.environ)


@pytest.fixture
async def indexed(library: Library) -> Library:
    """Two documents whose index was built with a model that the tenant does not configure."""
    await locate(library, model="former")
    await library.add("leave", "Leave lasts a month.", angles=[0])
    await library.add("parking", "Parking costs nothing.", angles=[90])
    return library


async def locate(library: Library, **address: str) -> None:
    await library.execute(ADDRESS_SQL, Jsonb(address))


async def read(library: Library, statement: str) -> list[dict[str, Any]]:
    async with library.database.transaction() as connection:
        return await (await connection.execute(statement.encode())).fetchall()


async def test_a_question_is_embedded_by_the_model_of_the_active_index(
    indexed: Library, models: Models, script: Script
) -> None:
    script.on().reply(embed_with([draw(0)]))
    retrieval = await retrieve(indexed.database, models, "How many days may one stay away?")
    assert [passage.title for passage in retrieval.passages] == ["Leave"]
    assert retrieval.by_vector
    assert [seen.body["model"] for seen in script.requests] == ["former"]
    assert models.embedding_model != "former"


async def test_words_alone_find_when_the_model_is_away(indexed: Library, models: Models, script: Script) -> None:
    script.on().reply(fail(400))
    found = await retrieve(indexed.database, models, "leave month")
    missed = await retrieve(indexed.database, models, "vacation")
    assert ([passage.title for passage in found.passages], found.by_vector) == (["Leave"], False)
    assert (list(missed.passages), missed.by_vector) == ([], False)
    counted = await read(indexed, COUNTED_SQL)
    assert [(row["by_text"], row["by_vector"], row["passages"]) for row in counted] == [(1, None, 1), (0, None, 0)]


async def test_an_index_whose_provider_has_no_address_any_more_leaves_the_words(
    indexed: Library, script: Script
) -> None:
    await locate(indexed, model="former", provider="azure", deployment="former")
    environ = {key: value for key, value in script.environ.items() if not key.startswith("AZURE")}
    models = build_models(ModelSettings(), TenantConfig(), environ=environ)
    found = await retrieve(indexed.database, models, "leave month")
    assert ([passage.title for passage in found.passages], found.by_vector) == (["Leave"], False)
    assert not script.requests


async def test_without_an_index_nothing_is_embedded_and_nothing_found_is_a_miss(
    indexed: Library, models: Models, script: Script
) -> None:
    await indexed.execute("delete from knowledge_indexes")
    missed = await retrieve(indexed.database, models, "vacation")
    assert (list(missed.passages), missed.by_vector, len(script.requests)) == ([], True, 0)
    assert (await retrieve(indexed.database, models, "  \x00 ")).by_vector


async def test_a_question_is_asked_again_of_an_index_that_became_active_meanwhile(
    indexed: Library, models: Models, script: Script
) -> None:
    async def switch(seen: Seen) -> HttpReply:
        await indexed.execute(RETIRE_SQL)
        values = (indexed.database.tenant_id, "next", Jsonb({"model": "next"}))
        await indexed.execute(ACTIVATE_SQL, *values)
        await indexed.execute(
            "update knowledge_vectors set index_id = (select id from knowledge_indexes where status = 'active')"
        )
        return await embed_with([draw(90)])(seen)

    script.on().reply(switch, embed_with([draw(0)]))
    retrieval = await retrieve(indexed.database, models, "How many days may one stay away?")
    assert [seen.body["model"] for seen in script.requests] == ["former", "next"]
    assert [passage.title for passage in retrieval.passages] == ["Leave"]


async def test_searches_are_counted_by_day_and_source_for_ninety_days(
    indexed: Library, models: Models, script: Script
) -> None:
    await indexed.execute(
        "insert into knowledge_queries (tenant_id, at, milliseconds, by_text, passages)"
        " values (%s, now() - interval '91 days', 1, 0, 0)",
        indexed.database.tenant_id,
    )
    source = await add_source(indexed.database, name="Handbook")
    await indexed.add("wages", "Wages are paid on Fridays.", "Wages rise in May.", source=source)
    script.on().reply(embed_with([draw(180)]))
    for words in ("wages", "holidays"):
        await retrieve(indexed.database, models, words)
    async with indexed.database.transaction() as connection:
        [day] = await read_query_metrics(connection, datetime.now(UTC) - timedelta(days=365))
    assert (day.queries, day.empty, day.text_only, day.hits) == (2, 1, 0, {source: 1})
    assert day.p95_milliseconds >= day.median_milliseconds > 0
