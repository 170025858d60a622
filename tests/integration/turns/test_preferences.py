"""A person's preference list: compare and swap (DESIGN §2.5)."""

from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.postgres.aio import AsyncPostgresStore

from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.errors import ConflictError
from oria_runtime.turns.preferences import delete_preferences, read_preferences, write_preferences
from tests.support.database import create_tenant

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_list_is_written_read_and_forgotten(database: TenantDatabase) -> None:
    assert list((await read_preferences(database, "ana")).items) == []
    await write_preferences(database, "ana", ["I like tea"])
    assert list((await read_preferences(database, "ana")).items) == ["I like tea"]
    await delete_preferences(database, "ana")
    after = await read_preferences(database, "ana")
    assert (list(after.items), after.version) == ([], 2)


async def test_an_update_that_began_before_an_edit_is_dropped(database: TenantDatabase) -> None:
    before = await read_preferences(database, "ana")
    await write_preferences(database, "ana", ["edited"])
    with pytest.raises(ConflictError):
        await write_preferences(database, "ana", ["late"], before.version, turn_created_at=NOW)
    assert list((await read_preferences(database, "ana")).items) == ["edited"]


async def test_an_update_that_began_before_a_deletion_cannot_bring_the_list_back(database: TenantDatabase) -> None:
    await write_preferences(database, "ana", ["old"])
    before = await read_preferences(database, "ana")
    await delete_preferences(database, "ana")
    with pytest.raises(ConflictError):
        await write_preferences(database, "ana", ["back"], before.version, turn_created_at=NOW)


async def test_an_older_turn_than_the_stored_one_is_dropped(database: TenantDatabase) -> None:
    await write_preferences(database, "ana", ["newer"], 0, turn_created_at=NOW)
    with pytest.raises(ConflictError):
        await write_preferences(database, "ana", ["older"], 1, turn_created_at=NOW - timedelta(seconds=1))


async def test_an_empty_list_is_a_list(database: TenantDatabase) -> None:
    await write_preferences(database, "ana", [])
    assert (await read_preferences(database, "ana")).version == 1


async def test_langgraphs_store_reads_the_same_list_and_other_tenants_see_none(
    database: TenantDatabase, pool: Pool
) -> None:
    await write_preferences(database, "ana.b", ["I like tea"])
    async with database.transaction() as connection:
        item = await AsyncPostgresStore(connection).aget((str(database.tenant_id), "preferences"), "ana.b")
    assert item is not None
    assert item.value == {"items": ["I like tea"]}
    foreign = TenantDatabase(pool, await create_tenant(pool, "foreign"))
    assert list((await read_preferences(foreign, "ana.b")).items) == []
