"""People to be found by conditions, for tests."""

from typing import Any

from oria_runtime.db.pool import TenantDatabase
from tests.support.people import add_person


async def add_candidate(
    database: TenantDatabase,
    person_id: str,
    *,
    skills: dict[str, str] | None = None,
    experiences: list[dict[str, Any]] | None = None,
    classification: str | None = None,
    work_mode: str | None = None,
    **basics: Any,
) -> None:
    """Insert a person with skills (label by code) and experiences."""
    held = [{"code": code, "label": label, "level": 4} for code, label in (skills or {}).items()]
    await add_person(database, person_id, sections={"skills": held, "experiences": experiences or []}, **basics)
    async with database.transaction() as connection:
        await connection.execute(
            "update people set classification = %s, work_mode = %s where external_id = %s",
            (classification, work_mode, person_id),
        )


async def add_skill(database: TenantDatabase, code: str, label: str, *alternative_labels: str) -> None:
    """Insert a skill of the library."""
    async with database.transaction() as connection:
        await connection.execute(
            "insert into skills (id, tenant_id, external_id, label, alternative_labels, content_hash)"
            " values (gen_random_uuid(), %s, %s, %s, %s, '')",
            (database.tenant_id, code, label, list(alternative_labels)),
        )
