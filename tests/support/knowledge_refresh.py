"""Refreshing sources in a test: a site, a scripted embedding model, a database, and what is in the index afterwards."""

import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from local.offline_model.wire.embeddings import render_embeddings
from local.offline_model.wire.server import HttpReply, reply_json
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.invocation import Invocation
from tests.support.knowledge_site import Gate, Site, serve_site
from tests.support.model_steps import Seen
from tests.support.scripted_model import Script, embed_text, serve_scripted_model

INSERT_SOURCE_SQL = """
insert into knowledge_sources (tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents,
    cadence_seconds, created_by)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, 'admin') returning id
"""
MAKE_DUE_SQL = "update knowledge_sources set next_refresh_at = now(), queued_until = null where id = %s"
READ_REFRESH_SQL = "select * from knowledge_refreshes where source_id = %s order by started_at desc, id limit 1"
DUMP_DOCUMENTS_SQL = """
select location, title, language, media_type, served_from, etag, last_modified, body_hash, status, reason, warnings,
    links, missing_since
from knowledge_documents where source_id = %s order by location
"""
DUMP_CHUNKS_SQL = """
select c.id, d.location, c.ordinal, c.path, c.anchor, c.content, c.language
from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
where d.source_id = %s order by d.location, c.ordinal, c.id
"""
DUMP_VECTORS_SQL = """
select i.model, v.chunk_id, v.embedding::text as embedding
from knowledge_vectors v join knowledge_indexes i on i.id = v.index_id join knowledge_chunks c on c.id = v.chunk_id
join knowledge_documents d on d.id = c.document_id
where d.source_id = %s order by i.model, v.chunk_id
"""
DUMP_ALIASES_SQL = """
select a.location, d.location as document from knowledge_aliases a join knowledge_documents d on d.id = a.document_id
where a.source_id = %s order by a.location
"""
SECONDS = 300.0
# Of uploaded files, where a test makes it.
BUCKET = "knowledge-of-tests"


@dataclass
class World:
    """A tenant with sources on a site, and the model that embeds them."""

    site: Site
    script: Script
    sandbox: Sandbox
    database: TenantDatabase
    policy: FetchPolicy = field(default_factory=lambda: FetchPolicy(allow_loopback=True, delay_seconds=0.0))

    def set_environ(self, **variables: str) -> None:
        """Another environment for the invocations to come; the database's connections stay."""
        self.sandbox.environ = {**self.sandbox.environ, **variables}
        self.sandbox.__dict__.pop("settings", None)

    async def add_source(
        self,
        path: str = "/",
        *,
        kind: str = "web",
        depth: int = 3,
        most: int = 2_000,
        cadence: int = 86_400,
        prefixes: tuple[str, ...] = (),
        name: str = "Handbook",
    ) -> UUID:
        """A source of the site's pages."""
        values = (
            self.database.tenant_id,
            name,
            kind,
            self.site.location(path),
            [self.site.url],
            list(prefixes),
            depth,
            most,
            cadence,
        )
        (row,) = await self.query(INSERT_SOURCE_SQL, *values)
        source_id: UUID = row["id"]
        return source_id

    async def add_place(self, kind: str, location: str | None, *, name: str = "Files") -> UUID:
        """A source of objects: an upload, or a folder in S3."""
        nowhere: list[str] = []
        values = (self.database.tenant_id, name, kind, location, nowhere, nowhere, 0, 2_000, 86_400)
        (row,) = await self.query(INSERT_SOURCE_SQL, *values)
        source_id: UUID = row["id"]
        return source_id

    async def query(self, query: str, *arguments: Any) -> list[dict[str, Any]]:
        """Rows of one statement, as the tenant."""
        async with self.database.transaction() as connection:
            cursor = await connection.execute(query.encode(), arguments)
            return [] if cursor.description is None else await cursor.fetchall()

    def message(self, source_id: UUID) -> RefreshMessage:
        return RefreshMessage(self.database.tenant_id, source_id)

    async def refresh(self, source_id: UUID, *, seconds: float = SECONDS, seed: int = 1) -> str:
        """Make a source due and refresh it, in one invocation of that many seconds."""
        await self.query(MAKE_DUE_SQL, source_id)
        return await self.go_on(source_id, seconds=seconds, seed=seed)

    async def go_on(self, source_id: UUID, *, seconds: float = SECONDS, seed: int = 1) -> str:
        """One invocation with a message of the source."""
        invocation = Invocation("request", time.monotonic() + seconds)
        rng = random.Random(seed)
        return await refresh_source(self.sandbox, self.message(source_id), invocation, rng=rng, policy=self.policy)

    async def last(self, source_id: UUID) -> dict[str, Any]:
        """The newest refresh."""
        (row,) = await self.query(READ_REFRESH_SQL, source_id)
        return row

    async def counts(self, source_id: UUID) -> dict[str, int]:
        """What the newest refresh counted, less the zeros."""
        counts: dict[str, int] = (await self.last(source_id))["counts"]
        return {name: number for name, number in counts.items() if number}

    async def documents(self, source_id: UUID) -> dict[str, dict[str, Any]]:
        """The stored documents by path."""
        rows = await self.query("select * from knowledge_documents where source_id = %s", source_id)
        return {row["location"].removeprefix(self.site.url): row for row in rows}

    async def statuses(self, source_id: UUID) -> dict[str, str]:
        """The status of each document, by path."""
        return {path: row["status"] for path, row in (await self.documents(source_id)).items()}

    def stop_at(self, number: int) -> Gate:
        """A gate at the request of that number from now on, whether to the site or to the model."""
        gate = self.site.gate = Gate(number)

        async def embed(seen: Seen) -> HttpReply:
            await gate.pass_through()
            return reply_json(render_embeddings(seen.body, [embed_text(text) for text in read_input(seen.body)]))

        self.script.on(endpoint="embeddings").reply(embed)
        return gate

    def forget(self) -> None:
        """Forget the requests that site and model have seen."""
        self.site.requests.clear()
        self.script.reset()

    async def chunks(self, source_id: UUID, path: str) -> list[str]:
        """The texts that are indexed of a document, in order."""
        rows = await self.query(DUMP_CHUNKS_SQL, source_id)
        return [row["content"] for row in rows if row["location"] == self.site.location(path)]

    async def dump(self, source_id: UUID) -> Mapping[str, list[dict[str, Any]]]:
        """Everything that a search could find, and what the next refresh starts from."""
        return {
            "documents": await self.query(DUMP_DOCUMENTS_SQL, source_id),
            "chunks": await self.query(DUMP_CHUNKS_SQL, source_id),
            "vectors": await self.query(DUMP_VECTORS_SQL, source_id),
            "aliases": await self.query(DUMP_ALIASES_SQL, source_id),
        }

    def embedded(self) -> list[str]:
        """Every text that the model was asked to embed, in order."""
        return [text for seen in self.script.seen(endpoint="embeddings") for text in read_input(seen.body)]


def read_input(body: Mapping[str, Any]) -> list[str]:
    """The texts of an embedding request."""
    given = body["input"]
    return [given] if isinstance(given, str) else list(given)


@asynccontextmanager
async def open_world(app_url: str, pool: Pool, tenant: UUID, *, site: Site | None = None) -> AsyncIterator[World]:
    """A world in a migrated database, with a site of its own or another world's."""
    async with AsyncExitStack() as stack:
        shown = await stack.enter_async_context(serve_site()) if site is None else site
        script = await stack.enter_async_context(serve_scripted_model())
        environ = {
            "DATABASE_URL": app_url,
            "KNOWLEDGE_LOOPBACK": "true",
            "EMBEDDING_MODEL": "small",
            "KNOWLEDGE_BUCKET": BUCKET,
        }
        sandbox = Sandbox(environ | script.environ)
        stack.push_async_callback(sandbox.close)
        yield World(shown, script, sandbox, TenantDatabase(pool, tenant))
