"""The training search on real Postgres: languages, filters, exclusions, tenancy, a small tenant among large ones."""

from random import Random
from typing import Any
from uuid import UUID

import psycopg
import pytest

from oria_runtime.catalog.fusion import Fusion, fuse
from oria_runtime.catalog.search import TrainingFilters, search_trainings
from oria_runtime.catalog.trainings import read_trainings
from oria_runtime.db.pool import Connection, Pool, TenantDatabase
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.trainings import add_training, make_vector

FUSION = Fusion(k=60, lexical_weight=1.0, vector_weight=1.0, depth=50)


async def search(database: TenantDatabase, words: str, **changes: Any) -> list[str]:
    options: dict[str, Any] = {"vector": None, "filters": TrainingFilters(), "excluded": set(), "limit": 10} | changes
    async with database.transaction() as connection:
        found = await search_trainings(connection, words=words, model="test", fusion=FUSION, **options)
    return [training.id for training in found]


async def test_each_row_is_matched_in_its_own_language(database: TenantDatabase) -> None:
    await add_training(database, "en", title="Managing conflicts in teams", language="en")
    await add_training(database, "fr", title="Gérer les conflits d'une équipe", language="fr")
    await add_training(database, "other", title="Spreadsheet formulas", language="en")
    assert await search(database, "conflict management") == ["en"]
    assert await search(database, "des conflits entre collègues") == ["fr"]


async def test_any_word_may_match_and_stop_words_match_nothing(database: TenantDatabase) -> None:
    await add_training(database, "a", title="Python programming")
    assert await search(database, "I would like to learn python and juggling") == ["a"]
    assert await search(database, "the of and") == []


@pytest.mark.parametrize(
    "words", ["", "& | ! ( )", "'); drop table trainings; --", "a:*b <-> \\ '", "x" * 50_000, "nul \x00 \ud800"]
)
async def test_any_text_is_a_query(database: TenantDatabase, words: str) -> None:
    await add_training(database, "a", title="Python programming")
    assert await search(database, words) == []


async def test_vector_retrieval_finds_what_no_word_does_in_order_of_distance(database: TenantDatabase) -> None:
    for index, angle in enumerate((0.5, 0.1, 0.9)):
        await add_training(database, f"t{index}", title="x", vector=make_vector(angle))
    await add_training(database, "foreign model", title="x", vector=make_vector(0.0), model="another")
    assert await search(database, "unrelated words", vector=make_vector(0.0)) == ["t1", "t0", "t2"]


async def test_the_order_is_the_fusion_of_both_lists_and_nothing_else(database: TenantDatabase) -> None:
    random = Random(3)
    for number in range(30):
        title = " ".join(random.sample(["python", "data", "reports", "teams", "law"], random.randint(1, 5)))
        await add_training(database, f"t{number:02}", title=title, vector=make_vector(random.uniform(0, 3)))
    vector = make_vector(0.0)
    async with database.transaction() as connection:
        arguments = "null, null, null, null, '{}', 50"
        by_text = await read_ids(connection, f"search_trainings_by_text('python data', {arguments})")
        by_vector = await read_ids(connection, f"search_trainings_by_vector('{vector}', 'test', {arguments})")
    expected = fuse([(1.0, by_text), (1.0, by_vector)], k=60)[:10]
    assert await search(database, "python data", vector=vector) == expected
    assert expected not in (by_text[:10], by_vector[:10])


async def read_ids(connection: Connection, call: str) -> list[str]:
    cursor = await connection.execute(f"select training_id from {call}".encode())
    return [row["training_id"] for row in await cursor.fetchall()]


async def test_filters_are_hard(database: TenantDatabase) -> None:
    await add_training(database, "a", title="SQL", level="beginner", format="video", duration_minutes=60)
    await add_training(database, "b", title="SQL", level="advanced", format="video", duration_minutes=60)
    await add_training(database, "c", title="SQL", level="beginner", format="classroom", duration_minutes=600)
    await add_training(database, "d", title="SQL", language="fr", level="beginner")
    everything = TrainingFilters(languages=["en"], levels=["beginner"], formats=["video"], max_minutes=90)
    vector = make_vector(0.0)
    assert await search(database, "SQL", vector=vector, filters=everything) == ["a"]
    assert set(await search(database, "SQL", filters=TrainingFilters(levels=["beginner"]))) == {"a", "c", "d"}
    assert set(await search(database, "SQL", filters=TrainingFilters(max_minutes=90))) == {"a", "b"}


async def test_excluded_trainings_never_come_back(database: TenantDatabase) -> None:
    for name in ("a", "b", "c"):
        await add_training(database, name, title="Leadership", vector=make_vector(0.1))
    assert await search(database, "leadership", vector=make_vector(0.0), excluded={"a", "c", "unknown"}) == ["b"]


async def test_another_tenants_trainings_are_never_found(pool: Pool, database: TenantDatabase) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    await add_training(other, "theirs", title="Negotiation", vector=make_vector(0.0))
    assert await search(database, "negotiation", vector=make_vector(0.0)) == []
    async with database.transaction() as connection:
        assert await read_trainings(connection, ["theirs"]) == []


async def test_without_a_tenant_there_is_no_search(pool: Pool) -> None:
    async with pool.connection() as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute("select * from search_trainings_by_text('x', null, null, null, null, '{}', 5)")


async def test_the_tenant_with_one_percent_of_the_rows_gets_all_it_asked_for(
    pool: Pool, database: TenantDatabase, database_urls: DatabaseUrls
) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "large"))
    fill_trainings(database_urls.owner, other.tenant_id, 3_960, seed=1)
    fill_trainings(database_urls.owner, database.tenant_id, 40, seed=2)
    with psycopg.connect(database_urls.owner, autocommit=True) as connection:
        connection.execute("analyze oria.trainings")
    async with database.transaction() as app:
        await app.execute("set local enable_seqscan = off")
        found = await search_trainings(
            app, words="", vector=[Random(7).gauss(0, 1) for _ in range(512)], model="test",
            filters=TrainingFilters(), excluded=set(), fusion=FUSION, limit=30,
        )  # fmt: skip
    assert len({training.id for training in found}) == 30


def fill_trainings(url: str, tenant: UUID, count: int, *, seed: int) -> None:
    """Random vectors, written by the server: the point is the mix of tenants in one index."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select setseed(%s)", (seed / 100,))
        connection.execute(
            """insert into oria.trainings (id, tenant_id, external_id, title, content_hash, embedding, embedding_model)
            select gen_random_uuid(), %s, n::text, 'Training ' || n, '',
                (select array_agg(random() - 0.5 + n * i * 0)::real[]::public.vector from generate_series(1, 512) i),
                'test'
            from generate_series(1, %s) as n""",
            (tenant, count),
        )
