"""The local cloud with the lab assistant: real workers, the real API, shortened timeouts.

What is real: the template's functions in worker processes, Postgres, the bus's rules, destinations, the sweeper.
What is replaced: nothing; the lab assistant calls no model.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
from psycopg.rows import dict_row

from local.cloud.cloud import LocalCloud
from local.cloud.faults import Faults, NoFaults
from local.cloud.options import CloudOptions
from oria_runtime.db.pool import create_pool
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.engine import prepare_lab

STAGE_FUNCTIONS = ("GateFunction", "SupervisorFunction", "SpecialistFunction", "KnowledgeFunction", "MemoryFunction")
# Long enough for a cold start on two busy cores, short enough for a test.
TIMEOUT_SECONDS = 5.0
TERMINAL = ("completed", "blocked", "failed", "cancelled")


@dataclass
class LabCloud:
    """A running cloud with one tenant; `user` writes to it."""

    cloud: LocalCloud
    tenant_id: UUID
    urls: DatabaseUrls
    user: str = "ana"
    http: httpx2.AsyncClient = field(default_factory=lambda: httpx2.AsyncClient(timeout=35))

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        token = self.cloud.token(self.user, str(self.tenant_id))
        headers = {"authorization": f"Bearer {token}"} | headers
        return await self.http.request(method, self.cloud.url + path, json=body, headers=headers)

    async def persist(self, method: str, path: str, body: Any, **headers: str) -> dict[str, Any]:
        """A client that tries again while the service is away; a 409 means that an earlier try had arrived."""
        while True:
            with contextlib.suppress(httpx2.HTTPError):
                answer = await self.call(method, path, body, **headers)
                if answer.status_code < 500:
                    assert answer.status_code in (200, 201, 202, 409), answer.text
                    found: dict[str, Any] = answer.json()
                    return found
            await asyncio.sleep(0.2)

    async def converse(self) -> UUID:
        answer = await self.call("POST", "/v1/conversations", {"assistant": "lab"})
        assert answer.status_code == 201, answer.text
        return UUID(answer.json()["id"])

    async def say(self, conversation: UUID, message: str, **body: Any) -> UUID:
        answer = await self.call("POST", f"/v1/conversations/{conversation}/turns", {"message": message, **body})
        assert answer.status_code == 202, answer.text
        return UUID(answer.json()["id"])

    async def wait(self, turn: UUID, *statuses: str, seconds: float = 60) -> dict[str, Any]:
        """The turn once it is in one of the statuses (default: ended or paused)."""
        wanted = statuses or (*TERMINAL, "awaiting_input")
        async with asyncio.timeout(seconds):
            while True:
                row = self.row(turn)
                if row["status"] in wanted:
                    return row
                await asyncio.sleep(0.1)

    async def run(self, message: str, conversation: UUID | None = None, **body: Any) -> dict[str, Any]:
        turn = await self.say(conversation or await self.converse(), message, **body)
        return await self.wait(turn)

    def row(self, turn: UUID) -> dict[str, Any]:
        return self.query("select * from oria.turns where id = %s", turn)[0]

    def query(self, statement: str, *arguments: Any) -> list[dict[str, Any]]:
        """Look at the database as its owner, past every policy."""
        with psycopg.connect(self.urls.owner, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement.encode(), arguments)
            return cursor.fetchall() if cursor.description else []

    def thread(self, conversation: UUID) -> list[Any]:
        """Everything LangGraph keeps of a conversation."""
        rows: list[Any] = []
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            statement = f"select t::text as row from oria.{table} t where thread_id like %s order by 1"
            rows += [(table, row["row"]) for row in self.query(statement, f"%:{conversation}")]
        return rows

    def transcript(self, conversation: UUID) -> list[tuple[str, str]]:
        statement = "select role, text from oria.messages where conversation_id = %s order by position"
        return [(row["role"], row["text"]) for row in self.query(statement, conversation)]

    def events(self, turn: UUID) -> list[str]:
        statement = "select type from oria.turn_events where turn_id = %s order by event_seq"
        return [row["type"] for row in self.query(statement, turn)]

    async def claimed(self, turn: UUID, stage: str, *, seconds: float = 30) -> dict[str, Any]:
        """The turn's row once a worker has claimed that stage."""
        async with asyncio.timeout(seconds):
            while True:
                row = self.row(turn)
                if row["stage"] == stage and row["claim"] is not None:
                    return row
                await asyncio.sleep(0.05)


@asynccontextmanager
async def start_lab_cloud(
    data: Path,
    *,
    stage_seconds: float = TIMEOUT_SECONDS,
    faults: Faults | None = None,
    prewarm: Sequence[str] = (),
    rates: Mapping[str, float] | None = None,
    throwaway: bool = True,
    **options: Any,
) -> AsyncIterator[LabCloud]:
    """A cloud whose every stage has the lab's graph and the same short timeout; the sweep runs as `rates` says."""
    settings = CloudOptions(
        data=data,
        sample_tenant=False,
        offline_model=False,
        environ={"ASSISTANTS": "tests.support.lab:ASSISTANTS", "OPENAI_API_KEY": "none"},
        timeouts=dict.fromkeys(STAGE_FUNCTIONS, stage_seconds),
        throwaway=throwaway,
        faults=faults or NoFaults(),
        prewarm=prewarm,
        schedules=rates is not None,
        rates=rates or {},
        **options,
    )
    async with LocalCloud(settings) as cloud:
        urls = cloud.database_urls
        assert urls is not None
        lab_urls = DatabaseUrls(owner=urls.owner, app=urls.app)
        prepare_lab(lab_urls)
        async with create_pool(urls.app, max_size=1) as pool:
            tenant_id = await create_tenant(pool, f"lab-{uuid4().hex[:8]}")
        lab = LabCloud(cloud, tenant_id, lab_urls)
        try:
            yield lab
        finally:
            await lab.http.aclose()
