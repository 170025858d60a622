"""Mapping titles to jobs and labels to skills on real Postgres: equal first, closest else, thresholds, tenancy."""

from collections.abc import Sequence
from math import cos

import psycopg
import pytest

from oria_runtime.catalog.job_search import JobMatch, match_jobs
from oria_runtime.catalog.skill_search import SkillMatch, match_skills
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.integration.search.rows import MODEL, add_job, add_skill
from tests.support.database import create_tenant
from tests.support.trainings import make_vector

Vectors = Sequence[Sequence[float]] | None


async def map_titles(database: TenantDatabase, titles: Sequence[str], vectors: Vectors = None) -> list[JobMatch | None]:
    async with database.transaction() as connection:
        return await match_jobs(connection, titles, vectors, MODEL, threshold=0.9)


async def map_labels(
    database: TenantDatabase, labels: Sequence[str], vectors: Vectors = None
) -> list[SkillMatch | None]:
    async with database.transaction() as connection:
        return await match_skills(connection, labels, vectors, MODEL, threshold=0.9)


async def test_an_equal_title_is_the_job_and_the_jobs_own_title_comes_before_an_alternative_one(
    database: TenantDatabase,
) -> None:
    await add_job(database, "A", "Data Analyst", alternative_titles=["Chargé d’études", "Data miner"])
    await add_job(database, "B", "Data miner", alternative_titles=["DATA-ANALYST"])
    found = await map_titles(database, ["data analyst", "DATA MINER", "chargé d'etudes", "Data", ""])
    assert found == [
        JobMatch("data analyst", "Data Analyst", "A", 1.0),
        JobMatch("DATA MINER", "Data miner", "B", 1.0),
        JobMatch("chargé d'etudes", "Data Analyst", "A", 1.0),
        None,
        None,
    ]


async def test_the_closest_title_wins_alternative_ones_too(database: TenantDatabase) -> None:
    await add_job(
        database,
        "A",
        "Alpha",
        alternative_titles=["Beta"],
        vectors={"Alpha": make_vector(0.0), "Beta": make_vector(1.0)},
    )
    await add_job(database, "C", "Gamma", vectors={"Gamma": make_vector(0.3)})
    vectors = [make_vector(0.95), make_vector(0.2), make_vector(2.0), make_vector(0.05)]
    found = await map_titles(database, ["one", "two", "three", "four"], vectors)
    assert [match and (match.mapped_title, match.job_code) for match in found] == [
        ("Alpha", "A"), ("Gamma", "C"), None, ("Alpha", "A"),
    ]  # fmt: skip
    assert found[0] is not None
    assert found[0].similarity == pytest.approx(cos(0.05), abs=1e-5)


async def test_titles_follow_their_job_and_keep_the_embeddings_of_titles_that_stay(database: TenantDatabase) -> None:
    vectors = {"Alpha": make_vector(0.0), "Beta": make_vector(1.0)}
    await add_job(database, "A", "Alpha", alternative_titles=["Beta"], vectors=vectors)
    async with database.transaction() as connection:
        await connection.execute("update jobs set title = 'Béta', alternative_titles = '{Delta}'")
        rows = await (
            await connection.execute(
                "select title, is_alternative, embedding is null as bare from job_titles order by 1"
            )
        ).fetchall()
    assert [tuple(row.values()) for row in rows] == [("Beta", False, False), ("Delta", True, True)]
    [found, gone] = await map_titles(database, ["x", "alpha"], [make_vector(1.0), make_vector(0.0)])
    assert gone is None
    assert found is not None
    assert (found.mapped_title, found.job_code) == ("Béta", "A")


async def test_an_equal_label_wins_over_every_vector(database: TenantDatabase) -> None:
    await add_skill(database, "S1", "Negotiation", "Négociation", vector=make_vector(1.0))
    await add_skill(database, "S2", "Bargaining", "negotiation", vector=make_vector(0.0))
    await add_skill(database, "S3", "C++", "C plus plus", vector=make_vector(2.0))
    labels = ["NEGOTIATION", "negociation", "bargain", "c++", "c#", "unlike"]
    vectors = [
        make_vector(0.0),
        make_vector(0.0),
        make_vector(0.1),
        make_vector(0.0),
        make_vector(3.0),
        make_vector(4.0),
    ]
    found = await map_labels(database, labels, vectors)
    assert [match and match.code for match in found] == ["S1", "S1", "S2", "S3", None, None]
    assert found[0] == SkillMatch("NEGOTIATION", "Negotiation", "S1", 1.0)
    assert found[2] is not None
    assert found[2].similarity == pytest.approx(cos(0.1), abs=1e-5)
    assert [match and match.code for match in await map_labels(database, labels)] == [
        "S1",
        "S1",
        None,
        "S3",
        None,
        None,
    ]


async def test_inactive_and_foreign_rows_and_other_models_are_never_mapped(
    pool: Pool, database: TenantDatabase
) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    vector = make_vector(0.0)
    for owner, active in ((other, True), (database, False)):
        await add_job(owner, "J", "Pilot", vectors={"Pilot": vector}, active=active)
        await add_skill(owner, "S", "Flying", vector=vector, active=active)
    await add_skill(database, "M", "Gliding", vector=vector, embedding_model="another")
    assert await map_titles(database, ["pilot", "x"], [vector, vector]) == [None, None]
    assert await map_labels(database, ["flying", "x"], [vector, vector]) == [None, None]


async def test_without_a_tenant_nothing_is_mapped(pool: Pool) -> None:
    for call in ("match_job('x', null, 'test')", "match_skill('x', null, 'test')"):
        async with pool.connection() as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(f"select * from {call}".encode())


async def test_no_text_and_no_number_of_texts_is_an_error(database: TenantDatabase) -> None:
    await add_job(
        database,
        "J",
        "Pilot",
        alternative_titles=["...", "\ufdfa" * 500, "日本語"],
        vectors={"Pilot": make_vector(0.0)},
    )
    await add_skill(database, "S", "...", "日本語")
    odd = ["", "...", "\x00", "\ud800", "'); drop table jobs; --", "x" * 50_000, "\\", "a:b & c", "日本語"]
    expected = [None] * 8
    assert [match and match.job_code for match in await map_titles(database, odd)] == [*expected, "J"]
    assert [match and match.code for match in await map_labels(database, odd)] == [*expected, "S"]
    assert await map_titles(database, []) == []
    assert await map_labels(database, [], []) == []
    many = [f"title {number}" for number in range(300)]
    assert await map_titles(database, many, [make_vector(2.0)] * 300) == [None] * 300
    with pytest.raises(ValueError, match="2 titles, but 1 vectors"):
        await map_titles(database, ["a", "b"], [make_vector(0.0)])
    with pytest.raises(ValueError, match="1 labels, but 2 vectors"):
        await map_labels(database, ["a"], [make_vector(0.0)] * 2)


async def test_the_zero_vector_is_close_to_nothing(database: TenantDatabase) -> None:
    await add_job(database, "J", "Pilot", vectors={"Pilot": make_vector(0.0)})
    await add_skill(database, "S", "Flying", vector=make_vector(0.0))
    assert await map_titles(database, ["x"], [[0.0] * 512]) == [None]
    assert await map_labels(database, ["x"], [[0.0] * 512]) == [None]


async def test_a_row_with_the_zero_vector_is_close_to_nothing(database: TenantDatabase) -> None:
    await add_job(database, "J", "Pilot", vectors={"Pilot": make_vector(0.0)})
    await add_job(database, "A", "???", vectors={"???": [0.0] * 512})
    await add_skill(database, "S", "Flying", vector=make_vector(0.0))
    await add_skill(database, "A", "???", vector=[0.0] * 512)
    asked = [make_vector(0.1), make_vector(2.0)]
    assert [match and match.job_code for match in await map_titles(database, ["x", "y"], asked)] == ["J", None]
    assert [match and match.code for match in await map_labels(database, ["x", "y"], asked)] == ["S", None]
