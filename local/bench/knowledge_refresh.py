"""A refresh beside LangChain's indexing API: the same documents, chunks, embedder and Postgres.

Ours fetches every document over HTTP by a conditional request, reads it, and commits it by itself, into tables with a
vector index and a full-text index, under row-level security. LangChain is handed the finished chunks from memory,
fetches and reads nothing, commits by batches of 100, keeps a vector index only, and owns its tables.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from local.bench.catalogue import Writer
from local.bench.counted_embedder import CountedEmbedder, start_embedder
from local.bench.counting_proxy import CountingProxy
from local.bench.figures import Table
from local.bench.langchain_indexing import check_packages, open_langchain
from local.bench.own_indexing import open_refresh
from local.bench.queries import COLUMNS as STATEMENT_COLUMNS
from local.bench.queries import describe, settle
from local.bench.testbed import BenchError
from local.cloud.database import Database, DatabaseUrls
from local.cloud.options import ROOT, CloudOptions

HANDBOOK = ROOT.parent / "shared" / "data" / "handbook" / "pages"
GENERATED, SECTIONS, SENTENCES, SENTENCE_WORDS = 1_000, 2, 6, 12
# Of them, those whose statements are counted.
COUNTED = 100
# One in a hundred has changed.
CHANGED_STEP = 100
CHANGED = "1 % changed"
STAGES = ("first", "unchanged", CHANGED)
COLUMNS = ["", "documents", "chunks", "calls to embed", "texts embedded", "seconds", "documents/s", "chunks/s"]
NOTES = [
    "The same chunks, the same Postgres with durable commits; each with a new process of the same offline embedder.",
    "Ours: an HTTP request a document, reading, one commit a document, vector and full-text index.",
    "LangChain: chunks handed over from memory, batches of 100, cleanup=full, vector index only.",
]
STATEMENT_NOTES = [
    f"Means of {COUNTED} documents of {SECTIONS} chunks; what a whole pass asks once is divided among them.",
    "A round trip is counted when the client speaks after the server has; a pipeline is one.",
]

Say = Callable[[str], None]


class Indexer(Protocol):
    """Brings the documents of a folder into an index, again and again."""

    async def prepare(self) -> None:
        """What is not measured of a pass."""
        ...

    async def index(self) -> None:
        """One pass over all documents."""
        ...

    async def count(self) -> tuple[int, int]:
        """After a pass: the documents that have text, and their chunks in the index."""
        ...


Open = Callable[[DatabaseUrls, CountedEmbedder, Path], AbstractAsyncContextManager[Indexer]]


@dataclass(frozen=True)
class Pass:
    """One pass over all documents; `documents` are those that have text."""

    documents: int
    chunks: int
    calls: int
    texts: int
    seconds: float

    def as_cells(self, name: str) -> list[str]:
        counts = [f"{number:,}" for number in (self.documents, self.chunks, self.calls, self.texts)]
        rates = [f"{number / self.seconds:,.0f}" for number in (self.documents, self.chunks)]
        return [name, *counts, f"{self.seconds:.1f}", *rates]


async def measure(say: Say) -> list[Table]:
    """A table for each set of documents: first pass, unchanged, one in a hundred changed; and one of the statements
    that a document costs. Raises BenchError."""
    check_packages()
    say("starting Postgres")
    async with start_database() as urls:
        with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
            sets = list_sets(Path(folder))
            tables = [await measure_set(urls, name, documents, say) for name, documents in sets]
        say(f"statements of {COUNTED} documents")
        return [*tables, await count_statements(urls)]


@asynccontextmanager
async def start_database() -> AsyncIterator[DatabaseUrls]:
    """An embedded Postgres that syncs its commits, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        database = Database(CloudOptions(data=Path(folder)))
        try:
            yield await database.start()
        finally:
            await database.stop()


def list_sets(folder: Path) -> list[tuple[str, Path]]:
    """Generated documents, and a copy of a real handbook where there is one."""
    write_documents(folder / "generated", GENERATED)
    sets = [(f"{GENERATED:,} generated documents", folder / "generated")]
    if HANDBOOK.is_dir():
        copy = folder / "handbook"
        for path in list_files(HANDBOOK):
            target = copy / path.relative_to(HANDBOOK)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
        sets.append(("a staff handbook", copy))
    return sets


def write_documents(folder: Path, count: int) -> None:
    """Documents of some sections of made-up sentences."""
    folder.mkdir()
    writer = Writer(3)
    for number in range(count):
        lines = [f"# Procedure {number}"]
        for section in range(SECTIONS):
            sentences = [writer.words(writer.topic(), 4, SENTENCE_WORDS - 4) for _ in range(SENTENCES)]
            lines += ["", f"## Step {section + 1}", "", *(f"{sentence.capitalize()}." for sentence in sentences)]
        (folder / f"procedure-{number:04}.md").write_text("\n".join(lines), encoding="utf-8")


def list_files(folder: Path) -> list[Path]:
    """The documents of a folder, in one order."""
    return sorted(folder.rglob("*.md"))


def change_documents(folder: Path) -> None:
    """Add a sentence to one document in a hundred."""
    for path in list_files(folder)[7::CHANGED_STEP]:
        path.write_text(f"{path.read_text(encoding='utf-8')}\n\nSince this year a copy is kept.\n", encoding="utf-8")


async def measure_set(urls: DatabaseUrls, name: str, folder: Path, say: Say) -> Table:
    """Both indexers over one folder; the second one gets the documents as the first one found them."""
    before = {path: path.read_bytes() for path in list_files(folder)}
    rows, found = [], []
    for indexer, open_indexer in INDEXERS.items():
        for path, content in before.items():
            path.write_bytes(content)
        passes = await measure_passes(urls, open_indexer, folder, partial(tell, say, f"{name}: {indexer}"))
        rows += [each.as_cells(f"{indexer}, {stage}") for stage, each in passes.items()]
        found.append([(each.documents, each.chunks, each.texts) for each in passes.values()])
    if found[0] != found[1]:
        raise BenchError(f"the indexers did not index the same: {found}")
    return Table(f"Refresh of {name}", COLUMNS, rows, NOTES)


def tell(say: Say, whose: str, stage: str) -> None:
    say(f"{whose}, {stage}")


async def measure_passes(urls: DatabaseUrls, open_indexer: Open, folder: Path, say: Say) -> dict[str, Pass]:
    """Three passes of one indexer."""
    passes = {}
    async with start_embedder() as embedder, open_indexer(urls, embedder, folder) as indexer:
        for stage in STAGES:
            say(stage)
            if stage == CHANGED:
                change_documents(folder)
            passes[stage] = await measure_pass(indexer, embedder)
    return passes


async def measure_pass(indexer: Indexer, embedder: CountedEmbedder) -> Pass:
    await indexer.prepare()
    embedder.reset()
    started = time.perf_counter()
    await indexer.index()
    seconds = time.perf_counter() - started
    return Pass(*await indexer.count(), embedder.calls, embedder.texts, seconds)


async def count_statements(urls: DatabaseUrls) -> Table:
    """What a new and an unchanged document ask of the database, for both indexers."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        write_documents(Path(folder) / "counted", COUNTED)
        for indexer, open_indexer in INDEXERS.items():
            rows += await count_indexer(urls, indexer, open_indexer, Path(folder) / "counted")
    return Table("Database, per document", STATEMENT_COLUMNS, rows, STATEMENT_NOTES)


async def count_indexer(urls: DatabaseUrls, name: str, open_indexer: Open, folder: Path) -> list[list[str]]:
    """The rows of one indexer, which reaches Postgres through a counting proxy."""
    proxy, rows = CountingProxy(), []
    proxy.upstream = str(conninfo_to_dict(urls.app)["host"])
    port = await proxy.start()
    counted = DatabaseUrls(*(redirect(url, port) for url in (urls.owner, urls.app)))
    try:
        async with start_embedder() as embedder, open_indexer(counted, embedder, folder) as indexer:
            for stage in ("new", "unchanged"):
                await indexer.prepare()
                await settle()
                proxy.wire.reset()
                await indexer.index()
                await settle()
                rows.append(describe(f"{name}, {stage}", proxy, COUNTED))
    finally:
        await proxy.close()
    return rows


def redirect(url: str, port: int) -> str:
    """A database URL by way of a proxy on loopback, which does not speak TLS."""
    return make_conninfo(url, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")


INDEXERS: dict[str, Open] = {
    "refresh": lambda urls, embedder, folder: open_refresh(urls.app, embedder.environ, folder),
    "LangChain": lambda urls, embedder, folder: open_langchain(urls.owner, embedder.build_models(), folder),
}
