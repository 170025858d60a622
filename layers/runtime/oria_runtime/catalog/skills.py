"""The skill library of a tenant, looked up by code."""

from collections.abc import Sequence

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict


class Skill(BaseModel):
    """A skill; `code` is its external id."""

    model_config = ConfigDict(frozen=True)
    code: str
    label: str
    alternative_labels: tuple[str, ...] = ()
    description: str = ""
    category: str | None = None
    language: str = "en"


READ_SKILLS_SQL = """
select external_id as code, label, alternative_labels, description, category, language
from unnest(%s::text[]) with ordinality as wanted (external_id, position)
join skills using (external_id)
where tenant_id = current_setting('app.tenant')::uuid and active
order by position
"""


async def read_skills(connection: AsyncConnection[DictRow], codes: Sequence[str]) -> list[Skill]:
    """The active skills with these codes, in the caller's order; unknown ones are left out, repeated ones come once."""
    cursor = await connection.execute(READ_SKILLS_SQL, (list(dict.fromkeys(codes)),))
    return [Skill.model_validate(row) for row in await cursor.fetchall()]
