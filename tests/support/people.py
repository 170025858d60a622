"""People with profiles, for tests."""

from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import TenantDatabase

INSERT_PERSON_SQL = """
insert into people (id, tenant_id, external_id, first_name, last_name, job_title, department, location, profile,
                    content_hash)
values (%(id)s, %(tenant)s, %(user)s, %(first_name)s, %(last_name)s, %(job_title)s, %(department)s, %(location)s,
        %(profile)s, '')
"""


async def add_person(
    database: TenantDatabase, user_id: str, *, sections: dict[str, Any] | None = None, **basics: Any
) -> None:
    """Insert a person with these basics and profile sections."""
    row: dict[str, Any] = {"first_name": "Ada", "last_name": "Byron", "job_title": None, "department": None}
    row |= {"location": None} | basics
    row |= {"id": uuid4(), "tenant": database.tenant_id, "user": user_id, "profile": Jsonb(sections or {})}
    async with database.transaction() as connection:
        await connection.execute(INSERT_PERSON_SQL, row)
