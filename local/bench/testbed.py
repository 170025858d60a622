"""A local cloud with the model-less assistant, and a client that takes the times of turns."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from local.bench.assistant import ID
from local.cloud.cloud import LocalCloud
from local.cloud.database import DatabaseUrls
from local.cloud.options import CloudOptions
from local.sample_tenant.load import DEMO_USER, TENANT_ID

USER = "bench"
STAGES = {"gate": "GateFunction", "supervisor": "SupervisorFunction", "specialist": "SpecialistFunction"}
WORKERS = ("ApiFunction", *STAGES.values())
ENDED = ("completed", "blocked", "failed", "cancelled", "awaiting_input")
# Finer than any figure that is read off it; one look costs a tenth of a millisecond.
LOOK_SECONDS = 0.002
TURN_SECONDS = 60.0

CREATE_TENANT_SQL = "insert into oria.tenants (id, slug, name, config) values (%s, %s, 'Bench', '{}')"
READ_TURN_SQL = "select id, status, created_at from oria.turns where id = %s"
READ_STEPS_SQL = """
select coalesce(data ->> 'stage', type) as mark, at from oria.turn_events
where turn_id = %s and type in ('run.accepted', 'stage.started', 'run.completed') order by event_seq
"""


class BenchError(Exception):
    """A turn did not end as the benchmark expects, so its times would mean nothing."""


@dataclass(frozen=True)
class TurnTimes:
    """Seconds of one turn. `total` is from the accepting transaction's start until its end was seen from outside;
    `steps` say from which moment to which: accepted to the gate's claim, claim to claim, the last claim to the end;
    the same step taken twice is one."""

    turn_id: UUID
    answered: float
    total: float
    steps: Mapping[str, float]


@dataclass(frozen=True)
class Testbed:
    """A running cloud with one tenant and one person. `connection` looks at the database as its owner."""

    cloud: LocalCloud
    urls: DatabaseUrls
    tenant_id: UUID
    http: httpx2.AsyncClient
    connection: AsyncConnection[DictRow]

    async def converse(self, assistant: str = ID, **fields: str) -> UUID:
        """A new conversation's id."""
        answer = await self.http.post("/v1/conversations", json={"assistant": assistant, **fields})
        return UUID(read_answer(answer, 201)["id"])

    async def say(self, conversation: UUID, message: str = "What should I learn next?") -> UUID:
        """Have a message accepted; the turn's id."""
        answer = await self.http.post(f"/v1/conversations/{conversation}/turns", json={"message": message})
        return UUID(read_answer(answer, 202)["id"])

    async def run_turn(self, conversation: UUID, message: str = "What should I learn next?") -> TurnTimes:
        """Have a message accepted, wait for the end. Raises BenchError when the turn does not complete."""
        started = time.perf_counter()
        turn_id = await self.say(conversation, message)
        answered = time.perf_counter() - started
        ended_at, created_at = await self.wait(turn_id)
        return TurnTimes(turn_id, answered, ended_at - created_at.timestamp(), await self._read_steps(turn_id))

    async def wait(self, turn_id: UUID) -> tuple[float, datetime]:
        """The wall clock's time at which the turn's end was seen, and when it was accepted."""
        async with asyncio.timeout(TURN_SECONDS):
            while True:
                (row,) = await self.query(READ_TURN_SQL, turn_id)
                if row["status"] in ENDED:
                    break
                await asyncio.sleep(LOOK_SECONDS)
        if row["status"] != "completed":
            raise BenchError(f"turn {turn_id} ended as {row['status']}")
        return time.time(), row["created_at"]

    async def query(self, statement: str, *arguments: Any) -> list[DictRow]:
        cursor = await self.connection.execute(statement.encode(), arguments)
        return await cursor.fetchall()

    async def _read_steps(self, turn_id: UUID) -> Mapping[str, float]:
        steps: Counter[str] = Counter()
        for begun, ended in pairwise(await self.query(READ_STEPS_SQL, turn_id)):
            steps[f"{begun['mark']} → {ended['mark']}"] += (ended["at"] - begun["at"]).total_seconds()
        return steps


def read_answer(answer: httpx2.Response, expected: int) -> dict[str, Any]:
    """The answer's document. Raises BenchError for another status."""
    if answer.status_code != expected:
        raise BenchError(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}")
    return dict(answer.json())


@asynccontextmanager
async def start_testbed(
    *,
    prewarm: Sequence[str] = WORKERS,
    assistants: str = "local.bench.assistant:ASSISTANTS",
    offline_model: bool = False,
    sample_tenant: bool = False,
    function_environ: Mapping[str, Mapping[str, str]] | None = None,
    **options: Any,
) -> AsyncIterator[Testbed]:
    """A cloud of its own on fresh data, written as durably as `make run` writes; nothing is left behind."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        settings = CloudOptions(
            data=Path(folder),
            sample_tenant=sample_tenant,
            offline_model=offline_model,
            environ={"ASSISTANTS": assistants},
            function_environ=function_environ or {},
            prewarm=prewarm,
            schedules=False,
            **options,
        )
        async with LocalCloud(settings) as cloud, open_testbed(cloud) as bed:
            yield bed


@asynccontextmanager
async def open_testbed(cloud: LocalCloud) -> AsyncIterator[Testbed]:
    """A client for a running cloud: of its sample tenant's person if it has one, else of a tenant made here."""
    urls, sample = cloud.database_urls, cloud.options.sample_tenant
    if urls is None:
        raise BenchError("this cloud has no database")
    tenant_id, user = (TENANT_ID, DEMO_USER) if sample else (uuid4(), USER)
    headers = {"Authorization": f"Bearer {cloud.token(user, str(tenant_id))}"}
    owner: AsyncConnection[DictRow] = await AsyncConnection.connect(urls.owner, autocommit=True, row_factory=dict_row)
    client = httpx2.AsyncClient(base_url=cloud.url, headers=headers, timeout=TURN_SECONDS, trust_env=False)
    async with owner, client:
        if not sample:
            await owner.execute(CREATE_TENANT_SQL, (tenant_id, f"bench-{tenant_id}"))
        yield Testbed(cloud, urls, tenant_id, client, owner)
