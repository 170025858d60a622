"""The trainings of a tenant and how they hang together. A training's id, outside the database, is its external id."""

from collections.abc import Sequence
from decimal import Decimal

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict


class Training(BaseModel):
    """A training as tools and cards see it. `skills` are skill codes, `parents` and `children` training ids."""

    model_config = ConfigDict(frozen=True)
    id: str
    language: str
    title: str
    description: str = ""
    provider: str | None = None
    duration_minutes: int | None = None
    level: str | None = None
    format: str | None = None
    skills: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    url: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    active: bool = True
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


READ_TRAININGS_SQL = """
select training.external_id as id, language, title, description, provider, duration_minutes, level, format, skills,
       keywords, url, price, currency, active,
       array(select parent.external_id from training_parents link join trainings parent on parent.id = link.parent_id
             where link.training_id = training.id order by 1) as parents,
       array(select child.external_id from training_parents link join trainings child on child.id = link.training_id
             where link.parent_id = training.id order by 1) as children
from unnest(%s::text[]) with ordinality as wanted (external_id, position)
join trainings training using (external_id)
where training.tenant_id = current_setting('app.tenant')::uuid and (active or %s)
order by position
"""

EXPAND_RELATED_SQL = """
with given as (
    select id, external_id from trainings
    where tenant_id = current_setting('app.tenant')::uuid and external_id = any(%s)
), related as (
    select link.parent_id as id from training_parents link join given on given.id = link.training_id
    union
    select link.training_id from training_parents link join given on given.id = link.parent_id
)
select external_id from related join trainings using (id)
where tenant_id = current_setting('app.tenant')::uuid
order by external_id
"""


async def read_trainings(
    connection: AsyncConnection[DictRow], ids: Sequence[str], *, include_inactive: bool = False
) -> list[Training]:
    """The trainings with these ids, in the caller's order; missing ids are left out, repeated ones come once."""
    cursor = await connection.execute(READ_TRAININGS_SQL, (list(dict.fromkeys(ids)), include_inactive))
    return [Training.model_validate(row) for row in await cursor.fetchall()]


async def expand_related(connection: AsyncConnection[DictRow], ids: Sequence[str]) -> list[str]:
    """The given ids, then those of their parents and children, each once (as training_finder_tool excludes them)."""
    given = list(dict.fromkeys(ids))
    cursor = await connection.execute(EXPAND_RELATED_SQL, (given,))
    return list(dict.fromkeys([*given, *(row["external_id"] for row in await cursor.fetchall())]))
