"""Our refresh of a folder on a server of loopback, as an indexer that can be measured."""

import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from uuid import UUID, uuid4

from local.bench.testbed import BenchError
from local.cloud.folder_server import FolderServer
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.invocation import Invocation

SECONDS = 600.0

CREATE_TENANT_SQL = "insert into tenants (id, slug, name, config) values (%s, %s, 'Bench', '{}')"
CREATE_SOURCE_SQL = """
insert into knowledge_sources (tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents,
    cadence_seconds, created_by)
values (%s, 'Folder', 'web', %s, %s, '{/}', 2, 10000, 86400, 'bench') returning id
"""
MAKE_DUE_SQL = "update knowledge_sources set next_refresh_at = now(), queued_until = null where id = %s"
READ_REFRESH_SQL = """
select counts, (select count(*) from knowledge_chunks) as chunks from knowledge_refreshes
where source_id = %s and status = 'completed' order by started_at desc limit 1
"""


@dataclass(frozen=True)
class RefreshIndexer:
    """Our refresh of a web source, without the politeness that a stranger's server is owed."""

    sandbox: Sandbox
    database: TenantDatabase
    source_id: UUID

    async def prepare(self) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(MAKE_DUE_SQL, (self.source_id,))

    async def index(self) -> None:
        """All of it in one invocation."""
        message = RefreshMessage(self.database.tenant_id, self.source_id)
        policy = FetchPolicy(allow_loopback=True, delay_seconds=0.0)
        invocation = Invocation("bench", time.monotonic() + SECONDS)
        rng = random.Random(1)  # noqa: S311 - jitter
        # Its metrics are lines on standard output.
        with redirect_stdout(StringIO()):
            ended = await refresh_source(self.sandbox, message, invocation, rng=rng, policy=policy)
        if ended != "completed":
            raise BenchError(f"the refresh ended as {ended}")

    async def count(self) -> tuple[int, int]:
        async with self.database.transaction() as connection:
            row = await (await connection.execute(READ_REFRESH_SQL, (self.source_id,))).fetchone()
        if row is None:
            raise BenchError("no refresh is completed")
        documents = sum(row["counts"].get(name, 0) for name in ("new", "changed", "unchanged"))
        return documents, row["chunks"]


@asynccontextmanager
async def open_refresh(url: str, environ: Mapping[str, str], folder: Path) -> AsyncIterator[RefreshIndexer]:
    """A tenant of its own with one source: the folder's server, which runs in this process. `environ` leads to the
    embedder."""
    server = FolderServer(folder)
    sandbox = Sandbox({**environ, "DATABASE_URL": url, "KNOWLEDGE_LOOPBACK": "true"})
    database = sandbox.database(uuid4())
    await server.start()
    try:
        yield RefreshIndexer(sandbox, database, await create_source(database, server.url))
    finally:
        await sandbox.close()
        await server.close()


async def create_source(database: TenantDatabase, url: str) -> UUID:
    async with database.transaction() as connection:
        await connection.execute(CREATE_TENANT_SQL, (database.tenant_id, f"bench-{database.tenant_id}"))
        values = (database.tenant_id, f"{url}/", [url])
        row = await (await connection.execute(CREATE_SOURCE_SQL, values)).fetchone()
    if row is None:
        raise BenchError("no source was created")
    source_id: UUID = row["id"]
    return source_id
