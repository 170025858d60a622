"""Brings a database to the schema of this release: roles, our tables by Alembic, LangGraph's by its own `setup()`.

Runs any number of times, also two at once (an advisory lock lets the second wait). A role without DDL rights may run it
on a schema that is already complete; it then verifies instead, and a missing or outdated object stops the start.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

from psycopg import AsyncConnection, errors, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row

from oria_runtime.db.versions import expected_versions, read_versions
from oria_runtime.errors import ConfigurationError

MIGRATIONS = Path(__file__).with_name("migrations")
LOCK_KEY = 0x4F524941  # "ORIA"; any constant that no other program of this database uses

# Bounds on what one statement of the application role may hold up (DESIGN §7).
ROLE_SETTINGS = {"statement_timeout": "15s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "30s"}

# casefold and the collation pg_unicode_fast (migration 0006); iterative scans of HNSW indexes (the same).
POSTGRES = 18
PGVECTOR = (0, 8)

READ_SERVER_SQL = """
select current_setting('server_version_num')::int as postgres, pg_encoding_to_char(encoding) as encoding, coalesce(
    (select extversion from pg_extension where extname = 'vector'),
    (select default_version from pg_available_extensions where name = 'vector')) as vector
from pg_database where datname = current_database()
"""

VENDOR_POLICIES = {
    "checkpoints": "split_part(thread_id, ':', 1)",
    "checkpoint_blobs": "split_part(thread_id, ':', 1)",
    "checkpoint_writes": "split_part(thread_id, ':', 1)",
    "store": "split_part(prefix, '.', 1)",
}

READ_PROTECTED_SQL = """
select relname from pg_class
where relname = any(%s) and relforcerowsecurity and relnamespace = current_schema()::regnamespace
"""


def role_names(schema: str) -> dict[str, str]:
    """The schema and its two roles, as the SQL of the migrations names them."""
    return {"schema": schema, "app": f"{schema}_app", "cross": f"{schema}_cross"}


async def migrate(owner_url: str, *, schema: str = "oria", app_password: str | None = None) -> dict[str, Any]:
    """Migrate as the owner, or verify when the role may not. Returns the versions. Raises ConfigurationError."""
    async with _locked(owner_url, schema) as connection:
        if await _is_ahead(connection):
            return await read_versions(connection)
        server = await (await connection.execute(READ_SERVER_SQL)).fetchone()
        check_server(**(server or {}))
        try:
            await _create_roles(connection, schema, app_password)
            await asyncio.to_thread(_upgrade, owner_url, schema)
            await _set_up_vendor_tables(connection)
            await _protect_vendor_tables(connection, schema)
        except errors.InsufficientPrivilege as refusal:
            await _verify(connection, refusal)
        return await read_versions(connection)


@asynccontextmanager
async def _locked(url: str, schema: str) -> AsyncIterator[AsyncConnection[DictRow]]:
    conninfo = make_conninfo(url, options=f"-c search_path={schema},public", application_name="oria-migrate")
    connection = await AsyncConnection.connect(conninfo, autocommit=True, row_factory=dict_row, prepare_threshold=None)
    async with connection:
        # Polled, not waited for: a blocked statement would hold a snapshot, and CREATE INDEX CONCURRENTLY waits for it.
        while not await _try_lock(connection):
            await asyncio.sleep(0.1)
        yield connection


async def _is_ahead(connection: AsyncConnection[DictRow]) -> bool:
    """Whether a newer release has migrated: this one is a rollback, Alembic does not know that version, and
    migrations only go forward."""
    found = (await read_versions(connection))["schema"]
    return found is not None and found > expected_versions()["schema"]


def check_server(postgres: int, encoding: str, vector: str | None) -> None:
    """Raise ConfigurationError naming what a server or database lacks: `postgres` is its server_version_num, `vector`
    the version of pgvector that it has or would install."""
    if postgres < POSTGRES * 10_000:
        raise ConfigurationError(f"the server has Postgres {postgres // 10_000}: Oria needs Postgres {POSTGRES}")
    if encoding != "UTF8":
        raise ConfigurationError(f"the database's encoding is {encoding}: Oria needs UTF8")
    if vector is None or tuple(map(int, vector.split(".")[:2])) < PGVECTOR:
        needed = ".".join(map(str, PGVECTOR))
        raise ConfigurationError(f"pgvector is {vector or 'missing'}: Oria needs pgvector {needed}")


async def _try_lock(connection: AsyncConnection[DictRow]) -> bool:
    row = await (await connection.execute("select pg_try_advisory_lock(%s) as locked", (LOCK_KEY,))).fetchone()
    return bool(row and row["locked"])


async def _create_roles(connection: AsyncConnection[DictRow], schema: str, app_password: str | None) -> None:
    names = role_names(schema)
    app, cross = sql.Identifier(names["app"]), sql.Identifier(names["cross"])
    database = sql.Identifier(connection.info.dbname)
    await _create_role(connection, sql.SQL("create role {} login").format(app))
    await _create_role(connection, sql.SQL("create role {} nologin").format(cross))
    if app_password is not None:
        await connection.execute(sql.SQL("alter role {} password {}").format(app, sql.Literal(app_password)))
    await connection.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(schema)))
    if not await _exists(connection, "select from pg_extension where extname = 'vector'"):
        await connection.execute("create extension if not exists vector schema public")
    settings = ROLE_SETTINGS | {"search_path": f"{schema}, public"}
    for name, value in settings.items():
        setting = sql.SQL("alter role {} in database {} set {} = {}")
        literal = sql.SQL(value) if name == "search_path" else sql.Literal(value)
        await connection.execute(setting.format(app, database, sql.Identifier(name), literal))
    await connection.execute(sql.SQL("grant usage on schema {} to {}").format(sql.Identifier(schema), app))
    # The owner of a function needs CREATE on its schema, and the migrating role must be a member to hand it over.
    await connection.execute(sql.SQL("grant usage, create on schema {} to {}").format(sql.Identifier(schema), cross))
    await connection.execute(sql.SQL("grant {} to current_user").format(cross))


async def _create_role(connection: AsyncConnection[DictRow], statement: sql.Composed) -> None:
    # Roles belong to the server: another database of it may have created them at this moment.
    try:
        await connection.execute(statement)
    except (errors.DuplicateObject, errors.UniqueViolation):
        return


async def _exists(connection: AsyncConnection[DictRow], query: LiteralString) -> bool:
    return await (await connection.execute(query)).fetchone() is not None


def _upgrade(owner_url: str, schema: str) -> None:
    """Alembic is synchronous: it runs in a thread with a connection of its own."""
    import psycopg
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ProgrammingError

    conninfo = make_conninfo(owner_url, options=f"-c search_path={schema},public")
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    with engine.connect() as connection:
        config.attributes.update(connection=connection, names=role_names(schema))
        try:
            command.upgrade(config, "head")
        except ProgrammingError as error:
            # SQLAlchemy wraps the driver's errors; the migrator acts on the driver's.
            raise error.orig or error from error
    engine.dispose()


async def _set_up_vendor_tables(connection: AsyncConnection[DictRow]) -> None:
    """Outside a transaction: it builds indexes concurrently (langchain-ai/langgraph#7630)."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore

    await AsyncPostgresSaver(connection).setup()
    await AsyncPostgresStore(connection).setup()


async def _protect_vendor_tables(connection: AsyncConnection[DictRow], schema: str) -> None:
    names = role_names(schema)
    app, cross = sql.Identifier(names["app"]), sql.Identifier(names["cross"])
    async with connection.transaction():
        for table, tenant in VENDOR_POLICIES.items():
            identifier, policy = sql.Identifier(table), sql.Identifier(f"{table}_tenant")
            condition = sql.SQL(f"{tenant} = nullif(current_setting('app.tenant', true), '')")
            for statement in (
                sql.SQL("alter table {} enable row level security").format(identifier),
                sql.SQL("alter table {} force row level security").format(identifier),
                sql.SQL("drop policy if exists {} on {}").format(policy, identifier),
                sql.SQL("create policy {} on {} to {} using ({})").format(policy, identifier, app, condition),
                sql.SQL("grant select, insert, update, delete on {} to {}").format(identifier, app),
            ):
                await connection.execute(statement)
        for table in ("alembic_version", "checkpoint_migrations", "store_migrations"):
            await connection.execute(sql.SQL("grant select on {} to {}, {}").format(sql.Identifier(table), app, cross))


async def _verify(connection: AsyncConnection[DictRow], refusal: errors.InsufficientPrivilege) -> None:
    """Accept a schema that is complete already; name what is missing or outdated otherwise."""
    found = await read_versions(connection)
    expected = expected_versions().items()
    wrong = [f"{name} is {found[name]}, needs {version}" for name, version in expected if found[name] != version]
    cursor = await connection.execute(READ_PROTECTED_SQL, (list(VENDOR_POLICIES),))
    protected = {row["relname"] for row in await cursor.fetchall()}
    wrong += [f"table {name} is missing or unprotected" for name in sorted(set(VENDOR_POLICIES) - protected)]
    if wrong:
        detail = f"this role may not migrate, and the schema is not ready: {'; '.join(wrong)}"
        raise ConfigurationError(f"{detail}. Run `make migrate` as its owner.") from refusal
