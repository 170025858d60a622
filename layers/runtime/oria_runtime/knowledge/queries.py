"""What searches of the knowledge found, day by day: for the administrator's metrics. No question is kept."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.limits import QUERY_DAYS

# What is older than an administrator can ask for goes with the next search: the tenant's rows alone, by their index.
WRITE_QUERY_SQL = f"""
with old as (
    delete from knowledge_queries where at < now() - interval '{QUERY_DAYS} days'
)
insert into knowledge_queries (tenant_id, milliseconds, by_text, by_vector, passages, source_ids)
values (current_setting('app.tenant')::uuid, %s, %s, %s, %s, %s)
"""  # noqa: S608 - constants only
READ_DAYS_SQL = """
select (at at time zone 'UTC')::date as day, count(*) as queries, count(*) filter (where passages = 0) as empty,
    count(*) filter (where by_vector is null) as text_only,
    percentile_cont(0.5) within group (order by milliseconds) as median_milliseconds,
    percentile_cont(0.95) within group (order by milliseconds) as p95_milliseconds
from knowledge_queries where at >= %s
group by day order by day
"""
READ_HITS_SQL = """
select (at at time zone 'UTC')::date as day, source_id, count(*) as hits
from knowledge_queries cross join unnest(source_ids) as source_id
where at >= %s
group by day, source_id order by hits desc, source_id
"""


@dataclass(frozen=True)
class QueryDay:
    """The searches of one day (UTC).

    empty: those that found no passage. text_only: those whose question could not be embedded. hits: how many searches
    found passages of a source, by its id, the most first; a source that was deleted since may be among them.
    """

    day: date
    queries: int
    empty: int
    text_only: int
    median_milliseconds: float
    p95_milliseconds: float
    hits: Mapping[UUID, int]


async def write_query(
    connection: Connection,
    *,
    milliseconds: float,
    by_text: int,
    by_vector: int | None,
    passages: int,
    source_ids: Collection[UUID],
) -> None:
    """Count a search: the hits of each list (`by_vector` None: not embedded), its passages and where they come from."""
    values = (milliseconds, by_text, by_vector, passages, list(source_ids))
    await connection.execute(WRITE_QUERY_SQL, values)


async def read_query_metrics(connection: Connection, since: datetime) -> list[QueryDay]:
    """The days with searches from `since` on, the oldest first, of the transaction's tenant."""
    days = await (await connection.execute(READ_DAYS_SQL, (since,))).fetchall()
    hits: dict[date, dict[UUID, int]] = {row["day"]: {} for row in days}
    for row in await (await connection.execute(READ_HITS_SQL, (since,))).fetchall():
        hits[row["day"]][row["source_id"]] = row["hits"]
    return [QueryDay(**row, hits=hits[row["day"]]) for row in days]
