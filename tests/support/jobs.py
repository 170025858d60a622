"""Rows of the job library for tests, with vectors of their titles whose distances are known."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import TenantDatabase

INSERT_JOB_SQL = """
insert into jobs (id, tenant_id, external_id, language, title, alternative_titles, description, skills, active,
                  content_hash)
values (%(row_id)s, %(tenant)s, %(code)s, 'en', %(title)s, %(alternative_titles)s, %(description)s, %(skills)s,
        %(active)s, '')
"""
# The rows of job_titles follow those of jobs by a trigger.
EMBED_TITLE_SQL = """
update job_titles set embedding = %(vector)s::public.vector, embedding_model = %(model)s
where job_id = %(row_id)s and title = %(title)s
"""


async def add_job(
    database: TenantDatabase,
    code: str,
    *,
    title: str,
    skills: Sequence[Mapping[str, Any]] = (),
    vectors: Mapping[str, Sequence[float]] | None = None,
    model: str = "text-embedding-3-small",
    **values: Any,
) -> None:
    """Insert a job; `vectors` are embeddings by title, for the job's own or an alternative one."""
    row: dict[str, Any] = {"alternative_titles": [], "description": "", "active": True} | values
    row |= {"row_id": uuid4(), "tenant": database.tenant_id, "code": code, "title": title}
    async with database.transaction() as connection:
        await connection.execute(INSERT_JOB_SQL, row | {"skills": Jsonb(list(skills))})
        for named, vector in (vectors or {}).items():
            given = {"row_id": row["row_id"], "title": named, "vector": str(list(vector)), "model": model}
            await connection.execute(EMBED_TITLE_SQL, given)


async def give_job(database: TenantDatabase, user_id: str, job_code: str) -> None:
    """Make the job the person's current one."""
    async with database.transaction() as connection:
        await connection.execute("update people set job_code = %s where external_id = %s", (job_code, user_id))
