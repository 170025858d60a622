"""Indexes are shared by all tenants: the small one gets its rows, under filters too, and searches use the indexes."""

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from oria_runtime.catalog.opportunity_search import OpportunityFilters, search_opportunities
from oria_runtime.catalog.search import TrainingFilters, search_trainings
from oria_runtime.catalog.talent_search import Criterion, search_people
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.integration.search.rows import FUSION, MODEL, fill, read_index_scans
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.trainings import make_vector

# The question's angle is 0; the large tenant's rows are around it, the small tenant's far from it.
NEAR, FAR = "n * 1e-4", "1 + n * 1e-3"


@pytest.fixture
async def large(pool: Pool) -> UUID:
    return await create_tenant(pool, "large")


async def find_people(database: TenantDatabase, *criteria: Criterion, **changes: Any) -> list[str]:
    options: dict[str, Any] = {"words": "", "vector": make_vector(0.0), "limit": 20} | changes
    async with database.transaction() as connection:
        # In a table of a few thousand rows sorting is as cheap as the index, in one of millions it is not.
        await connection.execute("set local enable_sort = off")
        found = await search_people(connection, criteria=criteria, model=MODEL, excluded=(), fusion=FUSION, **options)
    return [candidate.person_id for candidate in found]


async def test_the_tenant_with_one_percent_of_the_people_gets_all_it_asked_for(
    database: TenantDatabase, database_urls: DatabaseUrls, large: UUID
) -> None:
    modes = "(array['on_site', 'hybrid', 'remote'])[1 + n % 3]"
    columns = {"work_mode": modes, "job_title": "'Analyst ' || n", "location": "'City ' || n % 10"}
    fill(database_urls.owner, "people", {large: 2_970}, angle=NEAR, **columns)
    fill(database_urls.owner, "people", {database.tenant_id: 30}, angle=FAR, **columns)
    assert await find_people(database) == [str(number) for number in range(1, 21)]
    remote = Criterion("work_mode", "any", ["remote"])
    assert await find_people(database, remote) == [str(number) for number in range(2, 31, 3)]
    place = Criterion("location", "all", ["city", "5"])
    assert await find_people(database, remote, place) == ["5"]
    assert len(await find_people(database, words="analyst", vector=None)) == 20
    assert len(await find_people(database, remote, words="analyst", vector=None)) == 10
    assert len(await find_people(database, remote, vector=None)) == 10


async def test_an_index_that_leads_to_other_tenants_only_is_given_up(
    pool: Pool, database: TenantDatabase, database_urls: DatabaseUrls, large: UUID
) -> None:
    fill(database_urls.owner, "people", {large: 4_500}, angle=NEAR)
    fill(database_urls.owner, "people", {database.tenant_id: 2_100}, angle=FAR)
    assert await find_people(database) == [str(number) for number in range(1, 21)]
    await pool.close()  # a session reports what it used when it ends
    assert read_index_scans(database_urls.owner, "people")["people_embedding_idx"] > 0


async def test_searches_of_a_large_tenant_use_the_indexes(pool: Pool, database_urls: DatabaseUrls, large: UUID) -> None:
    columns = {"job_title": "'Title' || n", "department": "'Unit ' || n"}
    fill(database_urls.owner, "people", {large: 3_000}, angle=NEAR, **columns)
    database = TenantDatabase(pool, large)
    used = read_index_scans(database_urls.owner, "people")
    assert (await find_people(database))[0] == "1"
    assert await find_people(database, Criterion("department", "any", ["unit 7"])) == ["7"]
    assert await find_people(database, words="title77", vector=None) == ["77"]
    await pool.close()
    grown = {name for name, scans in read_index_scans(database_urls.owner, "people").items() if scans > used[name]}
    assert grown >= {"people_embedding_idx", "people_facets_idx", "people_search_idx"}


async def test_the_tenant_with_one_percent_of_the_opportunities_gets_all_it_asked_for(
    database: TenantDatabase, database_urls: DatabaseUrls, large: UUID
) -> None:
    columns = {
        "title": "'Role ' || n",
        "kind": "(array['job', 'mission'])[1 + n % 2]",
        "posted_on": "date '2026-01-01' + n",
    }
    fill(database_urls.owner, "opportunities", {large: 2_970}, angle=NEAR, **columns)
    fill(database_urls.owner, "opportunities", {database.tenant_id: 30}, angle=FAR, **columns)

    async def find(**filters: Any) -> list[str]:
        async with database.transaction() as connection:
            found = await search_opportunities(
                connection, words="", vector=make_vector(0.0), model=MODEL, filters=OpportunityFilters(**filters),
                excluded=(), fusion=FUSION, limit=20,
            )  # fmt: skip
        return [opportunity.id for opportunity in found]

    assert await find() == [str(number) for number in range(1, 21)]
    assert await find(kinds=["mission"]) == [str(number) for number in range(1, 31, 2)]
    assert await find(kinds=["job"], posted_after=date(2026, 1, 27)) == ["28", "30"]


async def test_rare_words_find_and_all_words_rank_in_a_large_catalogue(
    pool: Pool, database_urls: DatabaseUrls, large: UUID
) -> None:
    title = "'work ' || case when n % 500 = 0 then 'welding' when n % 5 = 0 then 'desk' else 'team' end"
    fill(database_urls.owner, "trainings", {large: 5_000}, angle=NEAR, title=title)
    async with TenantDatabase(pool, large).transaction() as connection:
        found = await search_trainings(
            connection, words="team work welding", vector=None, model=MODEL, filters=TrainingFilters(), excluded=(),
            fusion=FUSION, limit=20,
        )  # fmt: skip
        common = await search_trainings(
            connection, words="work", vector=None, model=MODEL, filters=TrainingFilters(), excluded=(),
            fusion=FUSION, limit=20,
        )  # fmt: skip
    assert {int(training.id) % 500 for training in found} == {0}
    assert len(found) == 10
    assert len(common) == 20
