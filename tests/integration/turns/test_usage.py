"""Model usage adds up in the turn row, by task label."""

from typing import Any

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.models import Turn
from oria_runtime.turns.rows import add_usage
from tests.support.engine import Engine

GATE = {"calls": 1, "input_tokens": 100, "cached_tokens": 0, "output_tokens": 5, "cost": 0.25}


async def merge(database: TenantDatabase, kept: Any, added: Any) -> Any:
    async with database.transaction() as connection:
        cursor = await connection.execute("select merge_usage(%s, %s) as merged", (Jsonb(kept), Jsonb(added)))
        row = await cursor.fetchone()
    return row and row["merged"]


async def test_labels_add_up_and_new_ones_join(database: TenantDatabase) -> None:
    merged = await merge(database, {"gate": GATE}, {"gate": GATE, "agent": GATE})
    assert merged["gate"] == {
        "calls": 2, "input_tokens": 200, "cached_tokens": 0, "output_tokens": 10, "cost": 0.5,
    }  # fmt: skip
    assert merged["agent"] == GATE


async def test_an_unknown_cost_makes_the_sum_unknown(database: TenantDatabase) -> None:
    merged = await merge(database, {"gate": GATE}, {"gate": GATE | {"cost": None}})
    assert (merged["gate"]["cost"], merged["gate"]["calls"]) == (None, 2)


async def test_nothing_and_nothing_is_nothing(database: TenantDatabase) -> None:
    assert await merge(database, {}, {}) == {}


async def test_the_turn_row_keeps_what_was_added(engine: Engine) -> None:
    turn: Turn = await engine.say("hello")
    for _ in range(2):
        async with engine.database.transaction() as connection:
            await add_usage(connection, turn.id, {"gate": GATE})
    assert (await engine.turn(turn.id)).usage["gate"]["calls"] == 2
