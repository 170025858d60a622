"""LangChain's indexing API as it is meant to be used: `aindex` with a Postgres vector store and an SQL record manager.

It gets the chunks of our own reader and splitter, so that both indexers embed the same texts.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

from local.bench.testbed import BenchError
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.chunking import embedded_text, split
from oria_runtime.knowledge.content.reading import read_content
from oria_runtime.models.client import Models
from oria_runtime.models.embeddings import DIMENSIONS


@dataclass(frozen=True)
class ModelsEmbeddings:
    """LangChain's interface to embeddings, on the product's own client."""

    models: Models

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return await self.models.embed(texts)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("asynchronous only")

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.aembed_documents([text]))[0]

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("asynchronous only")


@dataclass
class LangChainIndexer:
    """Passes over the chunks of a folder's documents, which are in memory before the clock runs."""

    folder: Path
    table: str
    engine: Any
    store: Any
    records: Any
    chunks: Sequence[Any] = field(default=())
    documents: int = 0

    async def prepare(self) -> None:
        files = await asyncio.to_thread(read_files, self.folder)
        self.chunks, self.documents = await read_chunks(files)

    async def index(self) -> None:
        from langchain_core.indexing import aindex

        names: dict[str, Any] = {"source_id_key": "source", "key_encoder": name_chunk}
        await aindex(self.chunks, self.records, self.store, cleanup="full", **names)

    async def count(self) -> tuple[int, int]:
        from sqlalchemy import text

        async with self.engine.connect() as connection:
            chunks = await connection.scalar(text(f'select count(*) from "{self.table}"'))  # noqa: S608 - our own name
        return self.documents, int(chunks)


def check_packages() -> None:
    """Raise BenchError where the packages of this measurement are not installed."""
    try:
        import langchain_classic.indexes
        import langchain_postgres
    except ImportError as error:
        raise BenchError("LangChain's indexing API is not installed: `make bench` installs it") from error
    del langchain_classic, langchain_postgres


@asynccontextmanager
async def open_langchain(url: str, models: Models, folder: Path) -> AsyncIterator[LangChainIndexer]:
    """An indexer with tables of its own; `url` is the owner's."""
    from langchain_classic.indexes import SQLRecordManager
    from langchain_postgres import PGEngine, PGVectorStore
    from langchain_postgres.v2.indexes import HNSWIndex
    from sqlalchemy.ext.asyncio import create_async_engine

    async def connect() -> psycopg.AsyncConnection[Any]:
        # SQLAlchemy does not read the URL of a server on a socket.
        return await psycopg.AsyncConnection.connect(url)

    table = f"chunks_{uuid4().hex[:8]}"
    engine = create_async_engine("postgresql+psycopg://", async_creator=connect)
    embeddings: Any = ModelsEmbeddings(models)
    try:
        store_engine = PGEngine.from_engine(engine)
        await store_engine.ainit_vectorstore_table(table, DIMENSIONS)
        store = await PGVectorStore.create(store_engine, embeddings, table)
        await store.aapply_vector_index(HNSWIndex())
        records = SQLRecordManager(table, engine=engine, async_mode=True)
        await records.acreate_schema()
        yield LangChainIndexer(folder, table, engine, store, records)
    finally:
        await engine.dispose()


def name_chunk(document: Any) -> str:
    """The id of a chunk: its source, text and number among equal ones, as a UUID's 32 digits."""
    key = f"{document.metadata['source']}\0{document.metadata['number']}\0{document.page_content}"
    return str(UUID(sha256(key.encode()).hexdigest()[:32]))


def read_files(folder: Path) -> dict[str, bytes]:
    """The documents of a folder by their URL."""
    paths = sorted(folder.rglob("*.md"))
    return {f"http://127.0.0.1/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}


async def read_chunks(files: Mapping[str, bytes]) -> tuple[list[Any], int]:
    """The chunks of Markdown documents as LangChain's documents, and how many of the files have any."""
    from langchain_core.documents import Document

    found, documents = [], 0
    for source, body in files.items():
        try:
            content = await read_content(body, "text/markdown", None, source)
        except ExtractionError:
            continue
        texts = [embedded_text(content.title, draft) for draft in split(content)]
        documents += bool(texts)
        for number, text in enumerate(texts):
            repeated = texts[:number].count(text)
            found.append(Document(text, metadata={"source": source, "number": repeated}))
    return found, documents
