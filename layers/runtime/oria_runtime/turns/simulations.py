"""Simulations: stored by the tool that suggests one, started as a conversation of their own.

The tool writes inside a stage that may still fail, in its own transaction. That is harmless: a simulation can be
started only when the turn that wrote it has completed, and only a completed turn has shown its card.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.db.text import clean_json
from oria_runtime.errors import NotFoundError
from oria_runtime.turns.conversations import Conversation, conversation_from_row

INSERT_SIMULATION_SQL = """
insert into simulations (id, tenant_id, user_id, turn_id, locale, card, scenario)
values (%(id)s, %(tenant)s, %(user)s, %(turn)s, %(locale)s, %(card)s, %(scenario)s)
"""
# The lock makes two starts at once one after the other.
LOCK_SIMULATION_SQL = """
select s.* from simulations s join turns t on t.id = s.turn_id
where s.id = %(id)s and s.tenant_id = %(tenant)s and s.user_id = %(user)s and t.status = 'completed'
for update of s
"""
READ_UNBEGUN_SQL = """
select c.*, c.start -> 'card' as simulation, t.id as active_turn_id
from conversations c left join turns t on t.conversation_id = c.id
where c.tenant_id = %(tenant)s and c.user_id = %(user)s and c.assistant = %(assistant)s
    and c.start ->> 'simulation_id' = %(id)s::text and t.id is null
order by c.created_at desc limit 1
"""
INSERT_STARTED_SQL = """
insert into conversations (id, tenant_id, user_id, assistant, locale, title, start)
values (%(conversation)s, %(tenant)s, %(user)s, %(assistant)s, %(locale)s, left(%(title)s, 80), %(start)s)
returning *, start -> 'card' as simulation, null::uuid as active_turn_id
"""
READ_START_SQL = "select start from conversations where id = %s and tenant_id = %s"


@dataclass(frozen=True)
class NewSimulation:
    """What a tool prepared for a person during a turn. `card` is public, `scenario` stays on the server."""

    id: UUID
    user_id: str
    turn_id: UUID
    locale: str
    card: Mapping[str, Any]
    scenario: Mapping[str, Any]


async def store_simulation(database: TenantDatabase, simulation: NewSimulation) -> None:
    """Keep a prepared simulation."""
    arguments = {
        "id": simulation.id,
        "tenant": database.tenant_id,
        "user": simulation.user_id,
        "turn": simulation.turn_id,
        "locale": simulation.locale,
        "card": Jsonb(clean_json(simulation.card)),
        "scenario": Jsonb(clean_json(simulation.scenario)),
    }
    async with database.transaction() as connection:
        await connection.execute(INSERT_SIMULATION_SQL, arguments)


async def start_simulation(
    database: TenantDatabase, user_id: str, assistant: str, simulation_id: UUID, locale: str | None = None
) -> tuple[Conversation, bool]:
    """The conversation of this simulation, and whether it is a new one.

    A conversation in which nothing was said yet is given again, so that a repeated request opens no second one; a
    simulation that was practised opens another, to be practised again. `locale` None is the simulation's own.
    Raises NotFoundError for an unknown or foreign simulation, and for one whose card was never shown.
    """
    arguments = {"id": simulation_id, "tenant": database.tenant_id, "user": user_id, "assistant": assistant}
    async with database.transaction() as connection:
        row = await (await connection.execute(LOCK_SIMULATION_SQL, arguments)).fetchone()
        if row is None:
            raise NotFoundError("no such simulation")
        unbegun = await (await connection.execute(READ_UNBEGUN_SQL, arguments)).fetchone()
        if unbegun is not None:
            return conversation_from_row(unbegun), False
        start = {"simulation_id": str(simulation_id), "card": row["card"], "scenario": row["scenario"]}
        values = {"conversation": uuid4(), "locale": locale or row["locale"], "title": row["card"].get("title")}
        cursor = await connection.execute(INSERT_STARTED_SQL, arguments | values | {"start": Jsonb(start)})
        opened = await cursor.fetchone()
    assert opened is not None  # noqa: S101 - an insert that returns
    return conversation_from_row(opened), True


async def read_start(connection: Connection, tenant_id: UUID, conversation_id: UUID) -> Mapping[str, Any] | None:
    """What the conversation was started with, or None for an ordinary one."""
    row = await (await connection.execute(READ_START_SQL, (conversation_id, tenant_id))).fetchone()
    return row["start"] if row else None
