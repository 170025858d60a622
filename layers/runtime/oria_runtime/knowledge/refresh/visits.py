"""The locations of a refresh: each is visited once, in the order in which they were met."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.refresh.limits import VISITS_PER_TURN

# What is known already takes no place of the bound on a source's locations.
ADD_VISITS_SQL = """
insert into knowledge_visits (refresh_id, tenant_id, location, depth, etag)
select %(refresh)s, current_setting('app.tenant')::uuid, location, %(depth)s, etag
from unnest(%(locations)s::text[], %(etags)s::text[]) with ordinality as met (location, etag, place)
where not exists (select from knowledge_visits v where v.refresh_id = %(refresh)s and v.location = met.location)
order by place
limit greatest(0, %(most)s - (select count(*) from knowledge_visits where refresh_id = %(refresh)s))
on conflict do nothing
"""
READ_NEXT_SQL = f"""
select location, depth, etag, attempts, waits from knowledge_visits
where refresh_id = %s and not done and not_before <= now() order by number limit {VISITS_PER_TURN}
"""  # noqa: S608 - a constant
TAKE_VISITS_SQL = """
update knowledge_visits set attempts = attempts + 1 where refresh_id = %s and location = any(%s)
"""
GIVE_BACK_SQL = """
update knowledge_visits set attempts = attempts - 1 where refresh_id = %s and location = any(%s) and not done
"""
READ_WAIT_SQL = """
select extract(epoch from min(not_before) - now())::float8 as seconds
from knowledge_visits where refresh_id = %s and not done
"""
READ_DONE_SQL = "select location from knowledge_visits where refresh_id = %s and done"
FINISH_VISITS_SQL = """
insert into knowledge_visits (refresh_id, tenant_id, location, depth, done)
select %(refresh)s, current_setting('app.tenant')::uuid, location, %(depth)s, true
from unnest(%(locations)s::text[]) as met (location)
on conflict (refresh_id, location) do update set done = true
"""
# The whole host asked for time, not one of its pages.
POSTPONE_SQL = """
update knowledge_visits set not_before = greatest(not_before, %(until)s), attempts = greatest(0, attempts - 1),
    waits = waits + case when location = %(location)s and %(asked)s then 1 else 0 end
where refresh_id = %(refresh)s and not done and (location = %(location)s or starts_with(location, %(origin)s))
"""
DELETE_VISITS_SQL = "delete from knowledge_visits where refresh_id = %s"


@dataclass(frozen=True)
class Visit:
    """A location to visit. `attempts` and `waits` are those before this one; `etag` is what a listing said."""

    location: str
    depth: int
    etag: str | None
    attempts: int
    waits: int


async def add_visits(
    connection: Connection, refresh_id: UUID, locations: Sequence[tuple[str, str | None]], *, depth: int, most: int
) -> None:
    """Add locations, with the ETags of a listing, that were not met yet, as far as the source may have `most`."""
    unique = dict(reversed(locations))
    met = list(dict.fromkeys(location for location, _ in locations))
    arguments = {
        "refresh": refresh_id,
        "depth": depth,
        "locations": met,
        "etags": [unique[location] for location in met],
        "most": most,
    }
    await connection.execute(ADD_VISITS_SQL, arguments)


async def take_visits(connection: Connection, refresh_id: UUID) -> list[Visit]:
    """The next visits, counted as attempted. One that was attempted before may have killed its worker: it comes alone,
    so that it takes no others with it."""
    rows = await (await connection.execute(READ_NEXT_SQL, (refresh_id,))).fetchall()
    visits = [Visit(**row) for row in rows]
    visits = visits[:1] if visits and visits[0].attempts else [visit for visit in visits if not visit.attempts]
    if visits:
        await connection.execute(TAKE_VISITS_SQL, (refresh_id, [visit.location for visit in visits]))
    return visits


async def give_back(connection: Connection, refresh_id: UUID, visits: Sequence[Visit]) -> None:
    """Visits that were taken and not begun."""
    await connection.execute(GIVE_BACK_SQL, (refresh_id, [visit.location for visit in visits]))


async def read_wait(connection: Connection, refresh_id: UUID) -> float | None:
    """Seconds until the next visit may be made, None when all are done."""
    row = await (await connection.execute(READ_WAIT_SQL, (refresh_id,))).fetchone()
    return None if row is None or row["seconds"] is None else max(0.0, row["seconds"])


async def read_done(connection: Connection, refresh_id: UUID) -> set[str]:
    """The locations that were visited."""
    rows = await (await connection.execute(READ_DONE_SQL, (refresh_id,))).fetchall()
    return {row["location"] for row in rows}


async def finish_visits(connection: Connection, refresh_id: UUID, locations: Sequence[str], depth: int) -> None:
    """Mark locations as visited, whether they were met before or not."""
    arguments = {"refresh": refresh_id, "depth": depth, "locations": list(dict.fromkeys(locations))}
    await connection.execute(FINISH_VISITS_SQL, arguments)


async def postpone(
    connection: Connection, refresh_id: UUID, location: str, until: datetime, *, asked: bool = True
) -> None:
    """Visit this location, and all others of its host, not before that time. `asked`: the host said so of this one."""
    parts = urlsplit(location)
    arguments = {
        "refresh": refresh_id,
        "location": location,
        "origin": f"{parts.scheme}://{parts.netloc}/",
        "until": until,
        "asked": asked,
    }
    await connection.execute(POSTPONE_SQL, arguments)


async def delete_visits(connection: Connection, refresh_id: UUID) -> None:
    """They are of use while the refresh runs only."""
    await connection.execute(DELETE_VISITS_SQL, (refresh_id,))
