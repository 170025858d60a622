"""The opportunity search on real Postgres: every filter, words, vectors, their fusion, exclusion, tenancy."""

from datetime import date
from typing import Any

import psycopg
import pytest

from oria_runtime.catalog.fusion import fuse
from oria_runtime.catalog.opportunity_search import OpportunityFilters, search_opportunities
from oria_runtime.db.pool import Connection, Pool, TenantDatabase
from tests.integration.search.rows import FUSION, MODEL, add_opportunity, add_skill
from tests.support.database import create_tenant
from tests.support.trainings import make_vector

PYTHON = {"code": "S-PY", "label": "Python"}
SQL_SKILL = {"code": "S-SQL", "label": ""}


async def find(database: TenantDatabase, words: str = "", **changes: Any) -> list[str]:
    filters = OpportunityFilters(**changes.pop("filters", {}))
    options: dict[str, Any] = {"vector": None, "excluded": set(), "limit": 10} | changes
    async with database.transaction() as connection:
        found = await search_opportunities(
            connection, words=words, model=MODEL, filters=filters, fusion=FUSION, **options
        )
    return [opportunity.id for opportunity in found]


@pytest.fixture
async def openings(database: TenantDatabase) -> TenantDatabase:
    """Three openings; the last one says nothing but its title."""
    await add_opportunity(
        database, "lead", title="Data lead", kind="job", department="IT & Data", location="Lyon, France",
        work_mode="hybrid", classification="Cadre supérieur", employment_type="permanent", company="Acme SA",
        job_code="J-1", skills=[PYTHON, SQL_SKILL], languages=["fr", "en-GB"], posted_on=date(2026, 3, 1),
        closes_on=date(2026, 6, 30),
    )  # fmt: skip
    await add_opportunity(
        database, "stage", title="Stage logistique", language="fr", kind="internship", department="Opérations",
        location="Montréal", work_mode="on_site", classification="Stagiaire", employment_type="internship",
        company="Bolt", job_code="J-2", skills=[SQL_SKILL], languages=["fr"], posted_on=date(2026, 5, 1),
        closes_on=date(2026, 5, 31),
    )  # fmt: skip
    await add_opportunity(database, "bare", title="Mentor wanted", kind="mentoring")
    return database


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"kinds": ["job", "internship"]}, ["stage", "lead"]),
    ({"kinds": ["JOB"]}, ["lead"]),
    ({"departments": ["operations"]}, ["stage"]),
    ({"departments": ["data"]}, ["lead"]),
    ({"locations": ["MONTREAL", "Oslo"]}, ["stage"]),
    ({"locations": ["lyon"]}, ["lead"]),
    ({"work_modes": ["remote"]}, []),
    ({"work_modes": ["hybrid", "on_site"]}, ["stage", "lead"]),
    ({"classifications": ["cadre superieur"]}, ["lead"]),
    ({"classifications": ["cadre"]}, []),
    ({"employment_types": ["permanent"]}, ["lead"]),
    ({"companies": ["acme"]}, ["lead"]),
    ({"job_codes": ["J-2"]}, ["stage"]),
    ({"languages": ["en"]}, ["lead"]),
    ({"languages": ["fr"]}, ["stage", "lead"]),
    ({"skills_any": ["python", "unknown"]}, ["lead"]),
    ({"skills_any": ["S-SQL"]}, ["stage", "lead"]),
    ({"skills_all": ["S-SQL", "Python"]}, ["lead"]),
    ({"posted_after": date(2026, 3, 1)}, ["stage"]),
    ({"open_on": date(2026, 6, 1)}, ["lead", "bare"]),
    ({"open_on": date(2026, 5, 31)}, ["stage", "lead", "bare"]),
    ({"kinds": ["job"], "locations": ["Montréal"]}, []),
    ({"kinds": ["job"], "languages": ["fr"], "open_on": date(2026, 6, 1)}, ["lead"]),
]


async def test_each_filter_is_hard_and_filters_are_anded(openings: TenantDatabase) -> None:
    for filters, expected in FILTERS:
        assert await find(openings, filters=filters) == expected, filters


async def test_filters_hold_for_words_and_vectors_too(openings: TenantDatabase) -> None:
    await add_opportunity(openings, "near", title="Data engineer", location="Lyon", vector=make_vector(0.0))
    await add_opportunity(openings, "far", title="Data analyst", location="Oslo", vector=make_vector(0.1))
    lyon = {"locations": ["Lyon"]}
    assert await find(openings, "data", vector=make_vector(0.1), filters=lyon) == ["near", "lead"]
    assert await find(openings, "mentor", filters=lyon) == []
    assert await find(openings, vector=[0.0] * 512) == []


async def test_a_skill_without_a_label_is_found_by_that_of_the_library(openings: TenantDatabase) -> None:
    await add_skill(openings, "S-SQL", "Structured query language", "Consultas SQL")
    assert await find(openings, filters={"skills_all": ["consultas sql"]}) == ["stage", "lead"]


async def test_the_order_is_the_fusion_of_both_lists(database: TenantDatabase) -> None:
    for number in range(20):
        vector = make_vector(number * 7 % 20 / 7)
        await add_opportunity(database, f"o{number:02}", title="data " * (number % 5) + "role", vector=vector)
    vector = make_vector(0.0)
    async with database.transaction() as connection:
        by_text = await read_ids(connection, "search_opportunities_by_text('data', '[]', null, null, '{}', 50)")
        call = f"search_opportunities_by_vector('{vector}', 'test', '[]', null, null, '{{}}', 50)"
        by_vector = await read_ids(connection, call)
    expected = fuse([(1.0, by_text), (1.0, by_vector)], k=60)[:10]
    assert await find(database, "data", vector=vector) == expected
    assert expected not in (by_text[:10], by_vector[:10])


async def read_ids(connection: Connection, call: str) -> list[str]:
    cursor = await connection.execute(f"select opportunity_id from {call}".encode())
    return [row["opportunity_id"] for row in await cursor.fetchall()]


async def test_excluded_inactive_and_foreign_openings_are_never_found(pool: Pool, openings: TenantDatabase) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    await add_opportunity(other, "theirs", title="Data lead", kind="job", vector=make_vector(0.0))
    await add_opportunity(openings, "closed", title="Data lead", kind="job", vector=make_vector(0.0), active=False)
    assert await find(openings, "data lead", vector=make_vector(0.0)) == ["lead"]
    assert await find(openings, "data lead", vector=make_vector(0.0), excluded={"lead", "unknown"}) == []
    assert await find(openings, filters={"kinds": ["job", "mentoring"]}, excluded=["lead"]) == ["bare"]


async def test_without_a_tenant_there_is_no_search(pool: Pool) -> None:
    for call in (
        "search_opportunities_by_text('x', '[]', null, null, '{}', 5)",
        "search_opportunities_by_vector(null, 'test', '[]', null, null, '{}', 5)",
        "search_opportunities_by_facets('[]', null, null, '{}', 5)",
    ):
        async with pool.connection() as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(f"select * from {call}".encode())


async def test_no_text_is_an_error(openings: TenantDatabase) -> None:
    for text in (
        "",
        "'); drop table opportunities; --",
        "\x00",
        "\ud800",
        "a & b | !c:*",
        "\\",
        "日本語",
        "x" * 50_000,
    ):
        filters = {"companies": [text], "skills_all": [text, "S-PY"]}
        expected = [] if text.strip("\x00") else ["lead"]
        assert await find(openings, filters=filters, excluded={text}) == expected
        assert await find(openings, text, vector=make_vector(0.0), filters={"companies": ["nobody"]}) == []
    assert await find(openings) == []
