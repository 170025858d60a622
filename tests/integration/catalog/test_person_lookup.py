"""Looking colleagues up by name: what the database lets through, and what it never does."""

from typing import Any

from psycopg.conninfo import make_conninfo

from oria_runtime.catalog.person_lookup import PersonMatch, find_people, read_person
from oria_runtime.db.migrator import migrate
from oria_runtime.db.pool import Pool, TenantDatabase, create_pool
from tests.support.database import create_tenant, execute
from tests.support.people import add_person

NAMES = {
    "p-1": ("Zoë", "Müller"),
    "p-2": ("Jean-Pierre", "de La Fontaine"),
    "p-3": ("小明", "王"),
    "p-4": ("Пётр", "Иванов"),
    "p-5": ("John", "Smith"),
    "p-6": ("Łukasz", "Żółty"),
    "p-7": ("", ""),
}


async def find(database: TenantDatabase, name: str, *, excluded: str = "", limit: int = 12) -> list[PersonMatch]:
    async with database.transaction() as connection:
        return await find_people(connection, name, excluded=excluded, threshold=0.55, limit=limit)


async def add_people(database: TenantDatabase) -> None:
    for person_id, (first, last) in NAMES.items():
        await add_person(database, person_id, first_name=first, last_name=last, department="Sales", location="Lyon")


ASKED: list[tuple[str, list[str]]] = [
    ("Zoe Muller", ["p-1"]),
    ("mueller zoe", ["p-1"]),
    ("Zoé", ["p-1"]),
    ("Jean Pierre Fontaine", ["p-2"]),
    ("Fontaine, Jean-Pierre", ["p-2"]),
    ("王小明", ["p-3"]),
    ("小明", ["p-3"]),
    ("Петр Иваново", ["p-4"]),
    ("Jhon Smiht", ["p-5"]),
    ("J. Smith", ["p-5"]),
    ("łukasz zolty", ["p-6"]),
    ("Somebody Else", []),
    ("", []),
    ("' | ! & \\ %", []),
]


async def test_names_are_found_as_people_write_them(database: TenantDatabase) -> None:
    await add_people(database)
    for asked, expected in ASKED:
        assert [match.person_id for match in await find(database, asked)] == expected, asked


async def test_the_best_match_comes_first_and_the_limit_holds(database: TenantDatabase) -> None:
    for number, first in enumerate(("Joan", "John", "Jon", "Joanna")):
        await add_person(database, f"p-{number}", first_name=first, last_name="Smith")
    found = await find(database, "John Smith", limit=3)
    assert [match.first_name for match in found] == ["John", "Jon", "Joan"]
    assert found[0].similarity == 1.0
    assert [match.fit for match in found] == ["full", "similar", "similar"]


async def test_the_person_who_asks_and_people_who_left_are_not_candidates(database: TenantDatabase) -> None:
    for person_id in ("me", "gone", "here"):
        await add_person(database, person_id)
    async with database.transaction() as connection:
        await connection.execute("update people set active = false where external_id = 'gone'")
    assert [match.person_id for match in await find(database, "Ada Byron", excluded="me")] == ["here"]


async def test_another_tenants_people_are_never_found(database: TenantDatabase, pool: Pool) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    await add_person(other, "theirs")
    assert await find(database, "Ada Byron") == []
    async with database.transaction() as connection:
        assert await read_person(connection, "theirs", excluded="") is None
    async with other.transaction() as connection:
        assert await read_person(connection, "theirs", excluded="") is not None
        assert await read_person(connection, "theirs", excluded="theirs") is None


async def test_a_renamed_person_is_found_by_the_new_name(database: TenantDatabase) -> None:
    await add_person(database, "p-1")
    async with database.transaction() as connection:
        await connection.execute("update people set last_name = 'Lovelace'")
    assert [match.last_name for match in await find(database, "Ada Lovelace")] == ["Lovelace"]


ADD_CROWD_SQL = """
insert into people (id, tenant_id, external_id, first_name, last_name, content_hash)
select gen_random_uuid(), %(tenant)s, 'c-' || number,
       (array['Ana', 'John', 'Maria', 'Jonas', 'Lea', 'Yusuf', 'Ines', 'Pablo'])[1 + number %% 8],
       'X' || md5(number::text), ''
from generate_series(1, %(count)s) as number
"""


async def test_a_name_is_found_in_a_crowd_that_shares_its_first_name(database: TenantDatabase) -> None:
    async with database.transaction() as connection:
        values: dict[str, Any] = {"tenant": database.tenant_id, "count": 4_000}
        await connection.execute(ADD_CROWD_SQL, values)
    await add_person(database, "p-1", first_name="Maria", last_name="Fernández")
    found = await find(database, "Maria Fernandes")
    assert found[0].person_id == "p-1"


async def test_case_is_folded_in_every_script_whatever_the_locale_of_the_database(postgres_server: str) -> None:
    create = "create database plain template template0 encoding 'UTF8' locale 'C'"
    execute(postgres_server, "drop database if exists plain", create)
    owner = make_conninfo(postgres_server, dbname="plain")
    await migrate(owner)
    async with create_pool(make_conninfo(owner, user="oria_app"), max_size=1) as pool:
        database = TenantDatabase(pool, await create_tenant(pool, "acme"))
        await add_person(database, "yan", first_name="Ян", last_name="")
        assert [match.person_id for match in await find(database, "ян")] == ["yan"]
    execute(postgres_server, "drop database plain with (force)")
