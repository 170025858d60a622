"""The jobs of a tenant, looked up by code."""

from collections.abc import Sequence
from datetime import datetime

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict


class JobSkill(BaseModel):
    """A skill that a job asks for, at a level from 0 to 5, and its weight in a comparison with a profile."""

    model_config = ConfigDict(frozen=True)
    code: str
    label: str = ""
    level: int | None = None
    weight: float = 1.0


class Job(BaseModel):
    """A job; `code` is its external id."""

    model_config = ConfigDict(frozen=True)
    code: str
    title: str
    alternative_titles: tuple[str, ...] = ()
    description: str = ""
    family: str | None = None
    classification_code: str | None = None
    language: str = "en"
    skills: tuple[JobSkill, ...] = ()
    created_at: datetime


# A job names skills by code; their labels are the library's, so that a renamed skill is renamed everywhere.
READ_JOBS_SQL = """
select job.external_id as code, title, alternative_titles, job.description, family, classification_code, job.language,
       job.created_at, (
           select coalesce(jsonb_agg(item || jsonb_build_object(
               'label', coalesce(skill.label, nullif(item ->> 'label', ''), item ->> 'code')) order by number), '[]')
           from jsonb_array_elements(job.skills) with ordinality as listed (item, number)
           left join skills skill on skill.tenant_id = job.tenant_id and skill.external_id = item ->> 'code'
       ) as skills
from unnest(%s::text[]) with ordinality as wanted (external_id, position)
join jobs job using (external_id)
where job.tenant_id = current_setting('app.tenant')::uuid and job.active
order by position
"""


async def read_jobs(connection: AsyncConnection[DictRow], codes: Sequence[str]) -> list[Job]:
    """The active jobs with these codes, in the caller's order; unknown ones are left out, repeated ones come once."""
    cursor = await connection.execute(READ_JOBS_SQL, (list(dict.fromkeys(codes)),))
    return [Job.model_validate(row) for row in await cursor.fetchall()]
