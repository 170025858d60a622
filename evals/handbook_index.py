"""The handbook as the product indexes it: its reading, chunks, embeddings and swap, without server, crawl and queue."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid4

from evals.knowledge_cases import ENDING
from local.cloud.database import Database
from local.cloud.options import CloudOptions
from oria_runtime.db.pool import Connection, TenantDatabase, create_pool
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.chunking import Draft, embedded_text, split
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.reading import read_content
from oria_runtime.knowledge.documents import RefreshKey, Version, swap_document
from oria_runtime.knowledge.fetching.policy import NONE, Fetched
from oria_runtime.knowledge.indexes import prepare_indexes
from oria_runtime.knowledge.refresh.embedding import Embedder
from oria_runtime.knowledge.refresh.versions import build_version
from oria_runtime.models.client import Models

SITE: Final = "https://handbook.example/"
MARKDOWN: Final = "text/markdown"
WITHOUT_TEXT: Final = frozenset({"empty", "no_text"})
CREATE_TENANT_SQL: Final = "insert into tenants (id, slug, name, config) values (%s, 'evals', 'Evals', '{}')"
CREATE_SOURCE_SQL: Final = """
insert into knowledge_sources (tenant_id, name, kind, location, origins, path_prefixes, max_documents, cadence_seconds,
    created_by)
values (current_setting('app.tenant')::uuid, 'Handbook', 'web', %(site)s, %(origins)s, '{/}', 1000, 86400, 'evals')
returning id
"""
CREATE_REFRESH_SQL: Final = """
insert into knowledge_refreshes (tenant_id, source_id, trigger)
values (current_setting('app.tenant')::uuid, %s, 'manual') returning id
"""


@asynccontextmanager
async def open_database() -> AsyncIterator[TenantDatabase]:
    """A tenant of a Postgres that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="oria-evals-") as folder:
        server = Database(CloudOptions(data=Path(folder), throwaway=True))
        try:
            urls = await server.start()
            async with create_pool(urls.app, max_size=4) as pool:
                database = TenantDatabase(pool, uuid4())
                async with database.transaction() as connection:
                    await connection.execute(CREATE_TENANT_SQL, (database.tenant_id,))
                yield database
        finally:
            await server.stop()


async def index_handbook(database: TenantDatabase, models: Models, pages: Mapping[str, Path]) -> dict[str, int]:
    """Index the pages as documents of one source; answers how many chunks each has, 0 where it has no text."""
    async with database.transaction() as connection:
        [index] = await prepare_indexes(connection, models.embedding_model, models.embedding_address)
        source_id = await _insert(connection, CREATE_SOURCE_SQL, {"site": SITE, "origins": [SITE.rstrip("/")]})
        key = RefreshKey(source_id, await _insert(connection, CREATE_REFRESH_SQL, (source_id,)))
    embedder = Embedder(models, index.address)
    counts = {}
    for name, path in pages.items():
        version, drafts = await read_version(key, read_page(name, path))
        vectors = await embedder.embed([embedded_text(version.title, draft) for draft in drafts])
        embedded = dict(zip([chunk.id for chunk in version.chunks], vectors, strict=True))
        async with database.transaction() as connection:
            await swap_document(connection, key, version, {index.id: embedded})
        counts[name] = len(drafts)
    return counts


async def read_version(key: RefreshKey, fetched: Fetched) -> tuple[Version, list[Draft]]:
    """A page as a refresh reads it; without text it has no chunks."""
    try:
        content = await read_content(fetched.body, fetched.media_type, None, fetched.location)
    except ExtractionError as error:
        if error.reason not in WITHOUT_TEXT:
            raise
        content = Content(None, (), (), None, ())
    drafts = await asyncio.to_thread(split, content)
    return build_version(key.source_id, fetched.location, fetched, content, drafts), drafts


def read_page(name: str, path: Path) -> Fetched:
    """A file as a server would have sent it."""
    body = path.read_bytes()
    return Fetched(SITE + quote(name + ENDING), (), False, NONE, MARKDOWN, None, body, sha256(body).hexdigest())


def name_page(location: str) -> str:
    """The name of the page at a location of the site."""
    return location.removeprefix(SITE).removesuffix(ENDING)


async def _insert(connection: Connection, statement: str, values: Any) -> UUID:
    row = await (await connection.execute(statement.encode(), values)).fetchone()
    if row is None:
        raise RuntimeError("an insert returned nothing")
    return UUID(str(row["id"]))
