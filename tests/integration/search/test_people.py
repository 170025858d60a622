"""The talent search on real Postgres: every criterion, any and all, AND between them, ranking, exclusion, tenancy."""

from typing import Any

import psycopg
import pytest

from oria_runtime.catalog.fusion import fuse
from oria_runtime.catalog.talent_search import Criterion, CriterionField, search_people
from oria_runtime.db.pool import Connection, Pool, TenantDatabase
from tests.integration.search.rows import FUSION, MODEL, add_person, add_skill
from tests.support.database import create_tenant
from tests.support.trainings import make_vector

PYTHON = {"code": "S-PY", "label": "Python"}
SQL_SKILL = {"code": "S-SQL", "label": "SQL"}
WELDING = {"code": "S-WE", "label": "Soudure à l'arc"}


async def find(database: TenantDatabase, *criteria: Criterion, words: str = "", **changes: Any) -> list[str]:
    options: dict[str, Any] = {"vector": None, "excluded": set(), "limit": 10} | changes
    async with database.transaction() as connection:
        found = await search_people(connection, criteria=criteria, words=words, model=MODEL, fusion=FUSION, **options)
    return [candidate.person_id for candidate in found]


@pytest.fixture
async def staff(database: TenantDatabase) -> TenantDatabase:
    """Three people who differ in everything a criterion can ask for."""
    await add_person(
        database, "ana", job_title="Senior Data Analyst", department="Finance & Accounting", location="Lyon, France",
        classification="Manager", work_mode="hybrid", skills=[PYTHON, SQL_SKILL],
        experiences=[{"title": "Warehouse operator", "company": "Müller Logistik GmbH"}],
    )  # fmt: skip
    await add_person(
        database, "ben", job_title="Warehouse manager", department="Operations", location="Québec",
        classification="Senior manager", work_mode="on_site", skills=[SQL_SKILL, WELDING],
        experiences=[{"title": "Data engineer", "company": "Acme"}, {"title": "Analyst", "company": "Bolt Ltd"}],
    )  # fmt: skip
    await add_person(database, "cem", job_title="Analyst of data", work_mode="remote", skills=[{"code": "S-PY"}])
    return database


BY_FIELD: dict[CriterionField, dict[str, list[str]]] = {
    "classification": {"MANAGER": ["ana"], "senior manager": ["ben"]},
    "location": {"lyon": ["ana"], "quebec": ["ben"], "France Lyon": []},
    "work_mode": {"remote": ["cem"], "On-site": ["ben"]},
    "skill": {"S-PY": ["ana", "cem"], "python": ["ana"], "soudure à L’ARC": ["ben"], "s-py": []},
    "role": {
        "data analyst": ["ana"],
        "warehouse": ["ana", "ben"],
        "Data Engineer": ["ben"],
        "engineer analyst": [],
        "operator müller": [],
    },
    "employer": {"muller logistik": ["ana"], "ACME": ["ben"], "Accounting": []},
    "department": {"accounting": ["ana"], "Finance and Accounting": []},
}


async def test_each_field_is_compared_with_what_it_names(staff: TenantDatabase) -> None:
    found = {
        field: {value: await find(staff, Criterion(field, "any", [value])) for value in values}
        for field, values in BY_FIELD.items()
    }
    assert found == BY_FIELD


async def test_one_value_of_any_is_enough_and_all_needs_every_one(staff: TenantDatabase) -> None:
    assert await find(staff, Criterion("skill", "any", ["S-PY", "S-WE"])) == ["ana", "ben", "cem"]
    assert await find(staff, Criterion("skill", "all", ["S-PY", "sql"])) == ["ana"]
    assert await find(staff, Criterion("role", "all", ["data engineer", "warehouse"])) == ["ben"]
    assert await find(staff, Criterion("skill", "all", ["S-PY", "unknown"])) == []
    assert await find(staff, Criterion("skill", "any", ["S-PY", "unknown", "..."])) == ["ana", "cem"]


async def test_criteria_are_anded_also_two_of_one_field(staff: TenantDatabase) -> None:
    data = Criterion("role", "any", ["data analyst", "data engineer"])
    assert await find(staff, data) == ["ana", "ben"]
    assert await find(staff, data, Criterion("work_mode", "any", ["on_site", "remote"])) == ["ben"]
    assert await find(staff, Criterion("skill", "any", ["SQL"]), Criterion("skill", "any", ["Python"])) == ["ana"]


async def test_a_label_of_the_library_stands_for_its_code(staff: TenantDatabase) -> None:
    await add_skill(staff, "S-PY", "Python (language)", "Programación en Python")
    assert await find(staff, Criterion("skill", "any", ["programacion en python"])) == ["ana", "cem"]


async def test_criteria_decide_who_is_found_and_ranking_decides_the_order(database: TenantDatabase) -> None:
    for number, angle in enumerate((0.9, 0.1, 0.5)):
        await add_person(database, f"p{number}", department="IT", vector=make_vector(angle))
    await add_person(database, "unranked", department="IT")
    await add_person(database, "elsewhere", department="HR", job_title="Welder", vector=make_vector(0.0))
    criterion = Criterion("department", "any", ["it"])
    assert await find(database, criterion, vector=make_vector(0.0)) == ["p1", "p2", "p0", "unranked"]
    assert await find(database, criterion, words="welder") == ["p0", "p1", "p2", "unranked"]
    assert await find(database, words="welder") == ["elsewhere"]
    assert await find(database, vector=[0.0] * 512) == []


async def test_the_order_is_the_fusion_of_both_lists(staff: TenantDatabase) -> None:
    for number in range(12):
        await add_person(
            staff, f"p{number:02}", job_title="data " * (number % 4) + "lead", vector=make_vector(number * 5 % 7 / 3)
        )
    vector = make_vector(0.0)
    async with staff.transaction() as connection:
        by_text = await read_ids(connection, "search_people_by_text('data', '[]', '{}', 50)")
        by_vector = await read_ids(connection, f"search_people_by_vector('{vector}', 'test', '[]', '{{}}', 50)")
    expected = fuse([(1.0, by_text), (1.0, by_vector)], k=60)[:10]
    assert await find(staff, words="data", vector=vector) == expected
    assert expected not in (by_text[:10], by_vector[:10])


async def read_ids(connection: Connection, call: str) -> list[str]:
    cursor = await connection.execute(f"select person_id from {call}".encode())
    return [row["person_id"] for row in await cursor.fetchall()]


async def test_excluded_and_inactive_people_are_never_found(staff: TenantDatabase) -> None:
    await add_person(staff, "gone", work_mode="remote", job_title="Analyst", vector=make_vector(0.0), active=False)
    everyone = Criterion("work_mode", "any", ["remote", "hybrid", "on_site"])
    assert await find(staff, everyone, excluded={"ana", "gone", "unknown"}) == ["ben", "cem"]
    assert await find(staff, everyone, words="analyst", vector=make_vector(0.0), excluded={"ben", "cem"}) == ["ana"]


async def test_a_candidate_shows_what_a_search_may_show(staff: TenantDatabase) -> None:
    await add_skill(staff, "S-PY", "Python (language)")
    async with staff.transaction() as connection:
        [found] = await search_people(
            connection, criteria=[Criterion("location", "any", ["Lyon"])], words="", vector=None, model=MODEL,
            excluded=(), fusion=FUSION, limit=3,
        )  # fmt: skip
    assert found.model_dump(exclude_defaults=True, exclude={"skills", "experiences"}) == {
        "person_id": "ana",
        "job_title": "Senior Data Analyst",
        "department": "Finance & Accounting",
        "classification": "Manager",
        "location": "Lyon, France",
        "work_mode": "hybrid",
    }
    assert [(skill.code, skill.label) for skill in found.skills] == [("S-PY", "Python (language)"), ("S-SQL", "SQL")]
    assert [each.company for each in found.experiences] == ["Müller Logistik GmbH"]


async def test_another_tenants_people_are_never_found(pool: Pool, staff: TenantDatabase) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    await add_person(other, "theirs", job_title="Astronaut", work_mode="remote", vector=make_vector(0.0))
    criterion = Criterion("work_mode", "any", ["remote"])
    assert await find(staff, criterion, words="astronaut", vector=make_vector(0.0)) == ["cem"]
    assert await find(staff, words="astronaut", vector=make_vector(0.0)) == []


async def test_without_a_tenant_there_is_no_search(pool: Pool) -> None:
    for call in (
        "search_people_by_text('x', '[]', '{}', 5)",
        "search_people_by_vector(null, 'test', '[]', '{}', 5)",
        "search_people_by_facets('[]', '{}', 5)",
    ):
        async with pool.connection() as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(f"select * from {call}".encode())


ODD_VALUES = [
    "",
    " ",
    "'",
    "''); drop table people; --",
    "\x00",
    "\ud800",
    "a & b | !c <-> (d):*",
    "\\",
    "日本語",
    "عربي",
    "x" * 9_000,
]


async def test_no_value_is_an_error(staff: TenantDatabase) -> None:
    for field in BY_FIELD:
        for value in ODD_VALUES:
            assert await find(staff, Criterion(field, "any", [value]), words=value, excluded={value}) == []
        assert await find(staff, Criterion(field, "all", ODD_VALUES), excluded=ODD_VALUES) == []


async def test_nothing_asked_for_finds_nothing(staff: TenantDatabase) -> None:
    assert await find(staff) == []
    assert await find(staff, Criterion("role", "all", [])) == []
    assert await find(staff, Criterion("role", "all", ["", " "]), words=" ") == []
    assert await find(staff, Criterion("role", "any", ["analyst"]), limit=0) == []


async def test_huge_lists_are_searched(staff: TenantDatabase) -> None:
    values = [f"word{number} more{number}" for number in range(5_000)]
    for field in ("role", "skill"):
        assert await find(staff, Criterion(field, "all", values)) == []
    assert await find(staff, Criterion("role", "any", ["data analyst", *values])) == ["ana"]
    excluded = {f"p{number}" for number in range(20_000)}
    assert await find(staff, Criterion("work_mode", "any", ["remote"]), excluded=excluded) == ["cem"]


async def test_titles_of_any_script_are_found(database: TenantDatabase) -> None:
    await add_person(database, "ru", job_title="Ведущий Инженер", location="Санкт-Петербург")
    await add_person(database, "el", job_title="ΣΟΦΟΣ")
    await add_person(database, "ja", job_title="データ アナリスト")
    assert await find(database, Criterion("role", "any", ["ведущий инженер"])) == ["ru"]
    assert await find(database, Criterion("location", "any", ["санкт петербург"])) == ["ru"]
    assert await find(database, Criterion("role", "any", ["σοφός"])) == ["el"]
    assert await find(database, Criterion("role", "any", ["アナリスト"])) == ["ja"]


async def test_a_profile_of_a_thousand_long_entries_is_stored_and_found(database: TenantDatabase) -> None:
    skills = [{"code": f"{number:04}" + "ß" * 296, "label": "\ufdfa" * 190 + str(number)} for number in range(1_000)]
    held = [{"title": f"Title {number} " + "é" * 480, "company": f"Company {number}"} for number in range(1_000)]
    await add_person(database, "long", skills=skills, experiences=held)
    assert await find(database, Criterion("skill", "all", [skills[0]["code"], skills[999]["label"]])) == ["long"]
    assert await find(database, Criterion("employer", "all", ["company 3", "999"])) == ["long"]


async def test_a_person_with_the_zero_vector_is_close_to_nothing(database: TenantDatabase) -> None:
    await add_person(database, "wordless", vector=[0.0] * 512)
    await add_person(database, "pilot", vector=make_vector(0.1))
    assert await find(database, vector=make_vector(0.0)) == ["pilot"]
