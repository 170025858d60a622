"""One tenant in which every tool finds something, and a second one with the same ids that nobody may see.

It is filled once a module: the tests of tools read it, and what they write belongs to their own thread.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from oria_runtime.db.pool import Connection, Pool, TenantDatabase, create_pool
from oria_runtime.documents.extraction import Extracted
from oria_runtime.documents.rows import Place, store_document
from tests.integration.search.rows import add_opportunity
from tests.support.candidates import add_candidate, add_skill
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.engine import USER
from tests.support.jobs import add_job, give_job
from tests.support.knowledge import add_knowledge
from tests.support.people import add_person
from tests.support.trainings import add_training

# Nobody has a profile under the first; the second has one that says next to nothing.
STRANGER = "stranger"
BARE_USER = "bare"
FOREIGN = "FOREIGN-SECRET"
# What the tools read. The engine's own tables stay free when these are locked.
CATALOGUE = ("people", "trainings", "jobs", "job_titles", "skills", "opportunities", "skill_scores", "documents")
# An earlier conversation of the person with a document, and one of somebody else in the same company.
EARLIER, ANOTHERS = UUID(int=1), UUID(int=2)
DOCUMENT = "cv.txt"
PYTHON: dict[str, Any] = {"code": "py", "label": "Python", "level": 3}


@dataclass(frozen=True)
class World:
    """Its databases and tenants."""

    urls: DatabaseUrls
    tenant_id: UUID
    foreign_id: UUID

    def break_database(self, table: str = "") -> None:
        """From now on no table and no function is there, or this table is not."""
        with psycopg.connect(self.urls.owner, autocommit=True) as owner:
            broken = f"alter table oria.{table} rename to gone" if table else "alter schema oria rename to gone"
            owner.execute(broken.encode())

    @contextmanager
    def repaired(self, table: str = "") -> Iterator[None]:
        """Whatever broke inside is whole afterwards."""
        try:
            yield
        finally:
            with psycopg.connect(self.urls.owner, autocommit=True) as owner:
                if owner.execute("select 1 from pg_namespace where nspname = 'gone'").fetchone():
                    owner.execute("alter schema gone rename to oria")
                if table and owner.execute("select to_regclass('oria.gone')").fetchone() != (None,):
                    owner.execute(f"alter table oria.gone rename to {table}".encode())

    def lock(self) -> psycopg.Connection[Any]:
        """Every read of the catalogue waits until this connection is closed."""
        owner = psycopg.connect(self.urls.owner)
        tables = ", ".join(f"oria.{table}" for table in CATALOGUE)
        owner.execute(f"lock table {tables} in access exclusive mode".encode())
        return owner

    def count_waiting(self) -> int:
        """How many statements wait for a lock."""
        with psycopg.connect(self.urls.owner, autocommit=True) as owner:
            row = owner.execute("select count(*) from pg_locks where not granted").fetchone()
        return row[0] if row else 0


class CountingDatabase(TenantDatabase):
    """The same database, which counts its transactions."""

    def __init__(self, pool: Pool, tenant_id: UUID) -> None:
        super().__init__(pool, tenant_id)
        self.transactions = 0

    @asynccontextmanager
    async def transaction(self, *, snapshot: bool = False) -> AsyncIterator[Connection]:
        self.transactions += 1
        async with super().transaction(snapshot=snapshot) as connection:
            yield connection


def fill_world(urls: DatabaseUrls, remark: str = "") -> World:
    """The world in a fresh database; `remark` stands in every text that a customer or a person writes."""

    async def fill() -> World:
        pool = create_pool(urls.app, max_size=2)
        async with pool:
            own, foreign = [TenantDatabase(pool, await create_tenant(pool, slug)) for slug in ("acme", "other")]
            await fill_tenant(own, remark)
            await fill_tenant(foreign, FOREIGN)
            await add_document(own, EARLIER, USER, f"Ten years of audits. {remark}")
            await add_document(own, ANOTHERS, "p-1", FOREIGN)
        return World(urls, own.tenant_id, foreign.tenant_id)

    return asyncio.run(fill())


async def fill_tenant(database: TenantDatabase, remark: str) -> None:
    """People, library and catalogue with the same ids everywhere."""
    await add_skill(database, "py", "Python", f"Python {remark}".strip())
    # A tool call in these tests comes with this message, see ToolRun.
    await add_knowledge(database, f"Please do it on paper. {remark}".strip(), title=f"Forms {remark}".strip())
    await fill_people(database, remark)
    for number in range(3):
        title = f"Python part {number} {remark}".strip()
        await add_training(database, f"t{number}", title=title, description=f"About Python. {remark}", level="beginner")
    requirements = [PYTHON | {"level": 4, "weight": 2}]
    described = f"Answers questions. {remark}"
    await add_job(database, "DA", title="Data analyst", description=described, skills=requirements)
    await give_job(database, USER, "DA")
    for name, location in (("op-lyon", "Lyon"), ("op-nice", "Nice")):
        title = f"Data work in {location} {remark}".strip()
        skills = [PYTHON | {"weight": 1}, {"code": "lead", "label": "Leadership", "level": 2, "weight": 1}]
        await add_opportunity(
            database, name, title=title, description=f"With data. {remark}", location=location, skills=skills
        )


async def add_document(
    database: TenantDatabase, conversation_id: UUID, user_id: str, text: str, *, name: str = DOCUMENT
) -> None:
    """A conversation of that person with a document."""
    async with database.transaction() as connection:
        await connection.execute(
            "insert into conversations (id, tenant_id, user_id, assistant) values (%s, %s, %s, 'oria')",
            (conversation_id, database.tenant_id, user_id),
        )
    place = Place(database, user_id, conversation_id)
    await store_document(place, name, Extracted("text/plain", text), size=len(text))


async def fill_people(database: TenantDatabase, remark: str) -> None:
    """The person who asks, one of whom nothing is known, two namesakes and somebody certain."""
    sections = {
        "skills": [PYTHON, {"code": "sql", "label": f"SQL {remark}".strip(), "level": 4}],
        "gaps": [{"code": "py", "label": f"Python {remark}".strip(), "level": 3, "target_level": 4}],
        "objectives": [
            {
                "id": "lead",
                "title": "Lead a team",
                "description": f"Soon. {remark}",
                "skills": [{"code": "lead", "label": "Leadership"}],
            },
            {"id": "speak", "title": "Speak in public", "description": remark},
        ],
        "experiences": [{"title": f"Auditor {remark}".strip(), "company": "Globex", "description": remark}],
        "interests": [f"Data {remark}".strip()],
        "bookmarks": [{"kind": "training", "id": "t0", "title": remark}],
        "training_history": [{"id": "t1", "title": remark, "status": "completed"}],
    }
    title = f"Data analyst {remark}".strip()
    await add_person(database, USER, first_name="Ana", last_name="Ruiz", job_title=title, sections=sections)
    await add_person(database, BARE_USER, first_name="Ben", last_name="Bare")
    engineer, auditor = f"Engineer {remark}".strip(), f"Auditor {remark}".strip()
    await add_candidate(database, "p-1", job_title=engineer, location="Lyon", skills={"py": "Python"})
    await add_candidate(database, "p-2", job_title=auditor, location="Lyon")
    await add_candidate(
        database, "p-3", first_name="Grace", last_name="Hopper", job_title=engineer, location="Nice", department="IT"
    )
