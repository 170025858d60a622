"""A refresh beside LangChain's indexing API: the same documents, chunks, embedder and Postgres.

Ours fetches every document over HTTP by a conditional request, reads it, and commits it by itself, into tables with a
vector index and a full-text index. LangChain is handed the finished chunks from memory, fetches and reads nothing,
commits by batches of 100, and keeps a vector index only.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

from local.bench.catalogue import Writer
from local.bench.figures import Table
from local.bench.testbed import BenchError
from local.cloud.database import Database, DatabaseUrls
from local.cloud.folder_server import FolderServer
from local.cloud.logs import LogFiles
from local.cloud.model_server import ModelServer
from local.cloud.options import ROOT, CloudOptions
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.chunking import embedded_text, split
from oria_runtime.knowledge.content.reading import read_content
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.models.client import Models, build_models
from oria_runtime.sandbox import Sandbox
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.invocation import Invocation

HANDBOOK = ROOT.parent / "shared" / "data" / "handbook" / "pages"
GENERATED, SECTIONS, SENTENCES, SENTENCE_WORDS = 1_000, 3, 6, 12
# One in a hundred has changed.
CHANGED_STEP = 100
SECONDS = 600.0
MODEL = "text-embedding-3-small"
DIMENSIONS = 512
COLUMNS = ["", "documents", "chunks", "texts embedded", "seconds", "documents/s", "chunks/s"]
NOTES = [
    "The same chunks, the same offline embedder in a process of its own, the same embedded Postgres.",
    "Ours: an HTTP request a document, reading, one commit a document, vector and full-text index.",
    "LangChain: chunks handed over from memory, batches of 100, cleanup=full, vector index only.",
]
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

Say = Callable[[str], None]


@dataclass(frozen=True)
class Pass:
    """One pass over all documents. `documents` are those that have text."""

    documents: int
    chunks: int
    embedded: int
    seconds: float

    def as_cells(self, name: str) -> list[str]:
        rates = [f"{number / self.seconds:,.0f}" for number in (self.documents, self.chunks)]
        return [name, f"{self.documents:,}", f"{self.chunks:,}", f"{self.embedded:,}", f"{self.seconds:.1f}", *rates]


@dataclass
class Services:
    """Database and embedder, both warm."""

    urls: DatabaseUrls
    environ: dict[str, str]
    models: Models


@dataclass
class CountedEmbeddings:
    """LangChain's interface to embeddings, on the product's own client; counts the texts."""

    models: Models
    texts: int = field(default=0)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += len(texts)
        return await self.models.embed(texts)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("asynchronous only")

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.aembed_documents([text]))[0]

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("asynchronous only")


async def measure(say: Say) -> list[Table]:
    """A table for each set of documents: first pass, unchanged, one in a hundred changed. Raises BenchError."""
    check_packages()
    tables = []
    async with open_services(say) as services:
        with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
            for name, documents in list_sets(Path(folder)):
                tables.append(await measure_set(services, name, documents, say))
    return tables


def check_packages() -> None:
    """Raise BenchError where the packages of this measurement are not installed."""
    try:
        import langchain_classic.indexes
        import langchain_postgres
    except ImportError as error:
        raise BenchError("LangChain's indexing API is not installed: `make bench` installs it") from error
    del langchain_classic, langchain_postgres


def list_sets(folder: Path) -> list[tuple[str, Path]]:
    """Generated documents, and a copy of a real handbook where there is one."""
    write_documents(folder / "generated")
    sets = [(f"{GENERATED:,} generated documents", folder / "generated")]
    if HANDBOOK.is_dir():
        copy = folder / "handbook"
        for path in HANDBOOK.rglob("*.md"):
            target = copy / path.relative_to(HANDBOOK)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
        sets.append(("a staff handbook", copy))
    return sets


def write_documents(folder: Path) -> None:
    """Documents of some sections of made-up sentences."""
    folder.mkdir()
    writer = Writer(3)
    for number in range(GENERATED):
        lines = [f"# Procedure {number}"]
        for section in range(SECTIONS):
            sentences = [writer.words(writer.topic(), 4, SENTENCE_WORDS - 4) for _ in range(SENTENCES)]
            lines += ["", f"## Step {section + 1}", "", *(f"{sentence.capitalize()}." for sentence in sentences)]
        (folder / f"procedure-{number:04}.md").write_text("\n".join(lines), encoding="utf-8")


@asynccontextmanager
async def open_services(say: Say) -> AsyncIterator[Services]:
    """An embedded Postgres and the offline model, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        options = CloudOptions(data=Path(folder), throwaway=True)
        database, model = Database(options), ModelServer(options, LogFiles(Path(folder) / "logs"))
        say("starting Postgres and the embedder")
        try:
            await model.start()
            urls = await database.start()
            environ = {"DATABASE_URL": urls.app, "OPENAI_API_KEY": "offline", "OPENAI_BASE_URL": model.url}
            sandbox = Sandbox(environ)
            models = build_models(sandbox.settings.models, TenantConfig(), environ=environ)
            await models.embed(["loads its weights"])
            yield Services(urls, environ, models)
        finally:
            await model.close()
            await database.stop()


async def measure_set(services: Services, name: str, folder: Path, say: Say) -> Table:
    """Both indexers over one folder; the second one gets the documents as the first one found them."""
    say(f"{name}: refreshing")
    before = {path: path.read_bytes() for path in list_files(folder)}
    ours = await measure_refresh(services, folder)
    for path, content in before.items():
        path.write_bytes(content)
    say(f"{name}: LangChain's indexing API")
    theirs = await measure_langchain(services, folder)
    stages = ("first", "unchanged", "1 % changed")
    rows = [each.as_cells(f"refresh, {stage}") for stage, each in zip(stages, ours, strict=True)]
    rows += [each.as_cells(f"LangChain, {stage}") for stage, each in zip(stages, theirs, strict=True)]
    return Table(f"Refresh of {name}", COLUMNS, rows, NOTES)


def list_files(folder: Path) -> list[Path]:
    """The documents of a folder, in one order."""
    return sorted(folder.rglob("*.md"))


def change_documents(folder: Path) -> None:
    """Add a sentence to one document in a hundred."""
    for path in list_files(folder)[7::CHANGED_STEP]:
        path.write_text(f"{path.read_text(encoding='utf-8')}\n\nSince this year a copy is kept.\n", encoding="utf-8")


async def measure_refresh(services: Services, folder: Path) -> list[Pass]:
    """Our refresh: three passes over the folder's server."""
    server = FolderServer(folder)
    sandbox = Sandbox(services.environ | {"KNOWLEDGE_LOOPBACK": "true"})
    database = sandbox.database(uuid4())
    await server.start()
    try:
        source_id = await create_source(database, server.url)
        passes = [await refresh(sandbox, database, source_id), await refresh(sandbox, database, source_id)]
        change_documents(folder)
        return [*passes, await refresh(sandbox, database, source_id)]
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


async def refresh(sandbox: Sandbox, database: TenantDatabase, source_id: UUID) -> Pass:
    """One refresh in one invocation, without the politeness that a stranger's server is owed."""
    async with database.transaction() as connection:
        await connection.execute(MAKE_DUE_SQL, (source_id,))
    message = RefreshMessage(database.tenant_id, source_id)
    policy = FetchPolicy(allow_loopback=True, delay_seconds=0.0)
    started = time.monotonic()
    invocation = Invocation("bench", started + SECONDS)
    ended = await refresh_source(sandbox, message, invocation, rng=random.Random(1), policy=policy)  # noqa: S311 - jitter
    seconds = time.monotonic() - started
    if ended != "completed":
        raise BenchError(f"the refresh ended as {ended}")
    async with database.transaction() as connection:
        row = await (await connection.execute(READ_REFRESH_SQL, (source_id,))).fetchone()
    counts: dict[str, int] = row["counts"] if row else {}
    documents = sum(counts.get(name, 0) for name in ("new", "changed", "unchanged"))
    return Pass(documents, row["chunks"] if row else 0, counts.get("embedded", 0), seconds)


async def measure_langchain(services: Services, folder: Path) -> list[Pass]:
    """`aindex` with PGVectorStore and SQLRecordManager: three passes over chunks in memory."""
    from langchain_classic.indexes import SQLRecordManager
    from langchain_core.indexing import aindex
    from langchain_postgres import PGEngine, PGVectorStore
    from langchain_postgres.v2.indexes import HNSWIndex
    from sqlalchemy.ext.asyncio import create_async_engine

    table = f"chunks_{uuid4().hex[:8]}"
    engine = create_async_engine("postgresql+psycopg://", async_creator=lambda: connect(services.urls.owner))
    embeddings: Any = CountedEmbeddings(services.models)
    try:
        store_engine = PGEngine.from_engine(engine)
        await store_engine.ainit_vectorstore_table(table, DIMENSIONS)
        store = await PGVectorStore.create(store_engine, embeddings, table)
        await store.aapply_vector_index(HNSWIndex())
        records = SQLRecordManager(table, engine=engine, async_mode=True)
        await records.acreate_schema()

        async def index(chunks: Sequence[Any], documents: int) -> Pass:
            embeddings.texts, started = 0, time.monotonic()
            await aindex(chunks, records, store, cleanup="full", source_id_key="source", key_encoder=name_chunk)
            return Pass(documents, len(chunks), embeddings.texts, time.monotonic() - started)

        chunks, documents = await read_chunks(folder)
        passes = [await index(chunks, documents), await index(chunks, documents)]
        change_documents(folder)
        return [*passes, await index(*await read_chunks(folder))]
    finally:
        await engine.dispose()


async def connect(url: str) -> Any:
    """A connection for SQLAlchemy, which does not read the URL of a server on a socket."""
    return await psycopg.AsyncConnection.connect(url)


def name_chunk(document: Any) -> str:
    """The id of a chunk: its source, text and number among equal ones, as a UUID's 32 digits."""
    key = f"{document.metadata['source']}\0{document.metadata['number']}\0{document.page_content}"
    return str(UUID(sha256(key.encode()).hexdigest()[:32]))


async def read_chunks(folder: Path) -> tuple[list[Any], int]:
    """The chunks of our own reader and splitter as LangChain's documents, and how many documents have any."""
    from langchain_core.documents import Document

    found, documents = [], 0
    for path in list_files(folder):
        source = f"http://127.0.0.1/{path.relative_to(folder).as_posix()}"
        try:
            content = await read_content(path.read_bytes(), "text/markdown", None, source)
        except ExtractionError:
            continue
        texts = [embedded_text(content.title, draft) for draft in await asyncio.to_thread(split, content)]
        documents += 1
        for number, text in enumerate(texts):
            repeated = texts[:number].count(text)
            found.append(Document(text, metadata={"source": source, "number": repeated}))
    return found, documents
