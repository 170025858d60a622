"""Several ranked lists in one pipeline of a tenant's transaction."""

import pytest
from psycopg.errors import DivisionByZero

from oria_runtime.catalog.fusion import fetch_lists
from oria_runtime.db.pool import TenantDatabase

LIST_SQL = "select id from unnest(%(ids)s::text[]) with ordinality as listed (id, position) order by position"
BROKEN_SQL = "select (1 / (cardinality(%(ids)s::text[]) - 1))::text"


async def test_lists_come_in_the_order_of_their_queries_with_their_weights(database: TenantDatabase) -> None:
    async with database.transaction() as connection:
        found, empty = {"ids": ["b", "a"]}, {"ids": list[str]()}
        queries = [(2.0, LIST_SQL, found), (1.0, LIST_SQL, empty)]
        assert await fetch_lists(connection, queries) == [(2.0, ["b", "a"]), (1.0, [])]
        assert await fetch_lists(connection, []) == []


@pytest.mark.parametrize("position", [0, 1])
async def test_a_list_that_fails_raises_its_own_error(database: TenantDatabase, position: int) -> None:
    queries = [(1.0, LIST_SQL, {"ids": ["a"]}), (1.0, LIST_SQL, {"ids": ["b"]})]
    queries.insert(position, (1.0, BROKEN_SQL, {"ids": ["a"]}))
    with pytest.raises(DivisionByZero):
        async with database.transaction() as connection:
            await fetch_lists(connection, queries)
    async with database.transaction() as connection:
        assert await fetch_lists(connection, [(1.0, LIST_SQL, {"ids": ["c"]})]) == [(1.0, ["c"])]
