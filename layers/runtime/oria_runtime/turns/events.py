"""Events of a turn, numbered under the turn's row lock: a poller that has seen n has seen everything up to n."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_json
from oria_runtime.turns.models import Event, EventType, StoredEvent

APPEND_EVENTS_SQL = """
with numbered as (
    update turns set event_seq = event_seq + cardinality(%(types)s::text[]) where id = %(turn)s
    returning event_seq - cardinality(%(types)s::text[]) as base, tenant_id
)
insert into turn_events (turn_id, event_seq, tenant_id, type, data)
select %(turn)s, base + ordinality, tenant_id, type, data
from numbered, unnest(%(types)s::text[], %(datas)s::jsonb[]) with ordinality as given (type, data, ordinality)
"""

# The same, but nothing is visible from a worker whose claim is gone or whose turn is being cancelled.
APPEND_PROGRESS_SQL = APPEND_EVENTS_SQL.replace(
    "where id = %(turn)s", "where id = %(turn)s and seq = %(seq)s and claim = %(claim)s and not cancel_requested"
)

READ_EVENTS_SQL = """
select event_seq, turn_id, type, data, at from turn_events
where turn_id = %s and event_seq > %s order by event_seq limit %s
"""

# One page of replay; a stream asks again for the rest.
EVENTS_PER_READ = 500


async def append_events(connection: Connection, turn_id: UUID, events: Sequence[Event]) -> None:
    """Append events in the transaction of what they tell."""
    if events:
        await connection.execute(APPEND_EVENTS_SQL, event_arguments(turn_id, events))


def event_arguments(turn_id: UUID, events: Sequence[Event]) -> dict[str, Any]:
    """The arguments of APPEND_EVENTS_SQL."""
    return {
        "turn": turn_id,
        "types": [event.type.value for event in events],
        "datas": [Jsonb(clean_json(event.data)) for event in events],
    }


def stored_event(row: Mapping[str, Any]) -> StoredEvent:
    """An event from its row."""
    return StoredEvent(row["event_seq"], row["turn_id"], EventType(row["type"]), row["at"], row["data"])
