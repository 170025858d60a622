"""Openings inside a tenant's company. An opportunity's id, outside the database, is its external id."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict

from oria_runtime.catalog.fields import WorkMode
from oria_runtime.catalog.jobs import JobSkill

OpportunityKind = Literal["job", "project", "mission", "mentoring", "internship"]
EmploymentType = Literal["permanent", "fixed_term", "temporary", "internship"]


class Opportunity(BaseModel):
    """An opportunity as tools and cards see it.

    `skills` are asked for at a level from 0 to 5, `languages` are those of the work; `language` is that of the texts.
    `closes_on` is the last day to apply.
    """

    model_config = ConfigDict(frozen=True)
    id: str
    language: str
    title: str
    description: str = ""
    kind: OpportunityKind = "job"
    department: str | None = None
    location: str | None = None
    work_mode: WorkMode | None = None
    classification: str | None = None
    employment_type: EmploymentType | None = None
    company: str | None = None
    job_code: str | None = None
    skills: tuple[JobSkill, ...] = ()
    languages: tuple[str, ...] = ()
    starts_on: date | None = None
    posted_on: date | None = None
    closes_on: date | None = None
    url: str | None = None
    active: bool = True


# As for jobs, the library's label of a skill wins over the one that the opportunity was imported with.
READ_OPPORTUNITIES_SQL = """
select opportunity.external_id as id, opportunity.language, title, opportunity.description, kind, department, location,
       work_mode, classification, employment_type, company, job_code, languages, starts_on, posted_on, closes_on, url,
       opportunity.active, (
           select coalesce(jsonb_agg(item || jsonb_build_object(
               'label', coalesce(skill.label, nullif(item ->> 'label', ''), item ->> 'code')) order by number), '[]')
           from jsonb_array_elements(opportunity.skills) with ordinality as listed (item, number)
           left join skills skill on skill.tenant_id = opportunity.tenant_id and skill.external_id = item ->> 'code'
       ) as skills
from unnest(%s::text[]) with ordinality as wanted (external_id, position)
join opportunities opportunity using (external_id)
where opportunity.tenant_id = current_setting('app.tenant')::uuid and (opportunity.active or %s)
order by position
"""


async def read_opportunities(
    connection: AsyncConnection[DictRow], ids: Sequence[str], *, include_inactive: bool = False
) -> list[Opportunity]:
    """The opportunities with these ids, in the caller's order; missing ids are left out, repeated ones come once."""
    cursor = await connection.execute(READ_OPPORTUNITIES_SQL, (list(dict.fromkeys(ids)), include_inactive))
    return [Opportunity.model_validate(row) for row in await cursor.fetchall()]
