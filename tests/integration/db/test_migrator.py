"""Migrations: repeatable, concurrent, and verified where the role may not write."""

import asyncio

import psycopg
import pytest
from langgraph.checkpoint.postgres.base import BasePostgresSaver
from langgraph.store.postgres.base import BasePostgresStore
from psycopg import sql
from psycopg.conninfo import make_conninfo

from oria_runtime.db.migrator import check_server, migrate
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.db.versions import VENDOR_HEADS, expected_versions
from oria_runtime.errors import ConfigurationError
from tests.support.database import DatabaseUrls, create_tenant, execute


def test_vendor_heads_are_those_of_the_installed_packages() -> None:
    assert VENDOR_HEADS["checkpoints"] == len(BasePostgresSaver.MIGRATIONS) - 1
    assert VENDOR_HEADS["store"] == len(BasePostgresStore.MIGRATIONS) - 1


async def test_migrating_twice_changes_nothing(database_urls: DatabaseUrls) -> None:
    assert await migrate(database_urls.owner) == expected_versions()
    assert await migrate(database_urls.owner) == expected_versions()


async def test_two_migrations_at_once_both_succeed(postgres_server: str) -> None:
    execute(postgres_server, "drop database if exists twins", "create database twins")
    url = make_conninfo(postgres_server, dbname="twins")
    first, second = await asyncio.gather(migrate(url), migrate(url))
    assert first == second == expected_versions()
    execute(postgres_server, "drop database twins with (force)")


@pytest.mark.parametrize(
    ("server", "missing"),
    [
        ((170_006, "UTF8", "0.8.0"), "Postgres 18"),
        ((180_000, "LATIN1", "0.8.0"), "UTF8"),
        ((180_000, "UTF8", "0.7.4"), "pgvector 0.8"),
        ((180_000, "UTF8", None), "pgvector 0.8"),
    ],
)
def test_a_server_that_lacks_something_is_told_what(server: tuple[int, str, str | None], missing: str) -> None:
    with pytest.raises(ConfigurationError, match=missing):
        check_server(*server)
    check_server(180_000, "UTF8", "0.8.0")
    check_server(190_001, "UTF8", "0.10.1")


async def test_a_database_that_cannot_hold_the_schema_is_left_as_it_is(postgres_server: str) -> None:
    create = "create database narrow template template0 encoding 'SQL_ASCII' locale 'C'"
    execute(postgres_server, "drop database if exists narrow", create)
    url = make_conninfo(postgres_server, dbname="narrow")
    with pytest.raises(ConfigurationError, match="UTF8"):
        await migrate(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("select from pg_namespace where nspname = 'oria'").fetchone() is None
    execute(postgres_server, "drop database narrow with (force)")


async def test_a_role_without_ddl_rights_accepts_a_complete_schema(database_urls: DatabaseUrls) -> None:
    assert await migrate(database_urls.app) == expected_versions()


@pytest.mark.parametrize(
    "damage",
    ["delete from oria.store_migrations where v > 0", "alter table oria.checkpoint_writes no force row level security"],
)
async def test_a_role_without_ddl_rights_refuses_an_outdated_schema(database_urls: DatabaseUrls, damage: str) -> None:
    execute(database_urls.owner, damage)
    with pytest.raises(ConfigurationError, match="make migrate"):
        await migrate(database_urls.app)


async def test_no_foreign_row_is_visible_without_a_tenant_filter(
    pool: Pool, database: TenantDatabase, database_urls: DatabaseUrls
) -> None:
    foreign = TenantDatabase(pool, await create_tenant(pool, "foreign"))
    for owner in (database, foreign):
        await fill_vendor_tables(owner)
    async with database.transaction() as connection:
        for table, column in tenant_columns(database_urls).items():
            query = sql.SQL("select distinct {}::text as tenant from {}").format(sql.SQL(column), sql.Identifier(table))
            rows = await (await connection.execute(query)).fetchall()
            assert {row["tenant"] for row in rows} <= {str(database.tenant_id)}, table
    async with pool.connection() as connection:
        for table in tenant_columns(database_urls):
            cursor = await connection.execute(sql.SQL("select 1 from {}").format(sql.Identifier(table)))
            assert await cursor.fetchall() == [], f"{table} shows rows when no tenant is set"


async def fill_vendor_tables(database: TenantDatabase) -> None:
    thread = f"{database.tenant_id}:c"
    async with database.transaction() as connection:
        await connection.execute(
            "insert into checkpoints (thread_id, checkpoint_id, checkpoint) values (%s, '1', '{}')", (thread,)
        )
        await connection.execute(
            "insert into checkpoint_blobs (thread_id, channel, version, type) values (%s, 'a', '1', 'x')", (thread,)
        )
        await connection.execute(
            "insert into checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)"
            " values (%s, '1', 't', 0, 'a', '')",
            (thread,),
        )
        await connection.execute(
            "insert into store (prefix, key, value) values (%s, 'k', '{}')", (f"{database.tenant_id}.preferences",)
        )


def tenant_columns(urls: DatabaseUrls) -> dict[str, str]:
    """Every table of the schema with the expression that names its tenant; ledgers have none."""
    with psycopg.connect(urls.owner) as connection:
        rows = connection.execute(
            "select relname from pg_class where relkind = 'r' and relnamespace = 'oria'::regnamespace"
        )
        tables = {name for (name,) in rows} - {"alembic_version", "checkpoint_migrations", "store_migrations"}
    special = {"tenants": "id", "store": "split_part(prefix, '.', 1)"}
    vendor = {name: "split_part(thread_id, ':', 1)" for name in tables if name.startswith("checkpoint")}
    return {name: (special | vendor).get(name, "tenant_id") for name in tables}
