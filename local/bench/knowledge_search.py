"""How long a search of the knowledge takes as it grows, and how many of the truly nearest chunks it finds.

For the tenant with 60 % of the chunks and the one with 1 %, as the application role under row-level security.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import numpy as np
import psycopg

from local.bench.figures import Table, judge, milliseconds, percentile
from local.bench.knowledge_corpus import Corpus, Owner, Question, Writer, generate
from local.bench.testbed import BenchError
from local.cloud.database import Database
from local.cloud.options import CloudOptions
from oria_runtime.db.pool import Pool, TenantDatabase, create_pool
from oria_runtime.knowledge.availability import has_knowledge
from oria_runtime.knowledge.evidence import SEARCH_BY_VECTOR_SQL
from oria_runtime.knowledge.limits import CANDIDATES
from oria_runtime.knowledge.search import retrieve

if TYPE_CHECKING:
    from oria_runtime.models.client import Models

SIZES = (1_000, 100_000, 1_000_000)
WARMING, SAMPLES = 10, 60
DEPTHS = (5, 10)
AIM_MS = 150
# Measured on two cores: 6,500 chunks a second are loaded, and of a million the indexes take 410 s and all of it 6.3 GB.
SECONDS_OF_A_CHUNK, BYTES_OF_A_CHUNK = 565 / 1e6, 6.3e9 / 1e6

READ_CHUNKS_SQL = """
select id, document_id, content from knowledge_chunks where tenant_id = %s order by id limit %s
"""
READ_VECTORS_SQL = """
select chunk_id, embedding::text from knowledge_vectors
where index_id = %s and chunk_id in (select id from knowledge_chunks where document_id = %s)
"""
# The sum keeps the HNSW index out: every vector is compared.
FIND_NEAREST_SQL = """
select chunk_id from knowledge_vectors where index_id = %s order by (embedding <=> %s::halfvec) + 0, chunk_id limit %s
"""


@dataclass(frozen=True)
class Embedded:
    """Stands for the models: the question's vector is known, so that what takes time is the database."""

    vector: Sequence[float]

    async def embed(
        self,
        _texts: Sequence[str],
        *,
        timeout: float,  # noqa: ARG002, ASYNC109 - the signature of Models
        address: Mapping[str, Any],  # noqa: ARG002
    ) -> list[list[float]]:
        return [list(self.vector)]


@dataclass
class Figures:
    """Of one tenant: seconds of each search, of each question whether there is knowledge, and recall by depth."""

    seconds: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    recall: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})

    def describe(self) -> list[str]:
        p50, p95 = percentile(self.seconds, 0.5), percentile(self.seconds, 0.95)
        found = [f"{sum(each) / len(each):.3f}" for each in self.recall.values()]
        asking = milliseconds(percentile(self.asking, 0.5))
        return [milliseconds(p50), milliseconds(p95), judge(p95 * 1000, AIM_MS), *found, asking]


async def measure(say: Callable[[str], None], sizes: Sequence[int] = SIZES) -> list[Table]:
    """Generate each size in a database of its own, search it, throw it away."""
    rows = []
    for size in sizes:
        minutes, gigabytes = size * SECONDS_OF_A_CHUNK / 60, size * BYTES_OF_A_CHUNK / 1e9
        say(f"{size:,} chunks: some {minutes:.1f} minutes and {gigabytes:.1f} GB of disk, given back at the end")
        rows += await measure_size(size, say)
    columns = ["chunks", "share", "p50", "p95", "aim", *(f"recall@{depth}" for depth in DEPTHS), "has_knowledge p50"]
    notes = [
        f"Five tenants; application role, row-level security, warm, {SAMPLES} questions each. A search is a retrieval",
        "without its embedding: text and vector, fused, passages read with their neighbours, counted for the metrics.",
        "Recall: the part of an exact search's nearest chunks that the vector list has among as many of its first.",
    ]
    return [Table("9. Searches of the knowledge as it grows", columns, rows, notes)]


async def measure_size(size: int, say: Callable[[str], None]) -> list[list[str]]:
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        database = Database(CloudOptions(data=Path(folder)))
        urls = await database.start()
        try:
            corpus = await asyncio.to_thread(generate, urls.owner, size, say)
            async with create_pool(urls.app, max_size=2, name="bench") as pool:
                return await measure_corpus(urls.owner, pool, corpus, size, say)
        finally:
            await database.stop()


async def measure_corpus(
    url: str, pool: Pool, corpus: Corpus, size: int, say: Callable[[str], None]
) -> list[list[str]]:
    rows = []
    for owner, share in zip(corpus.owners, ("60 %", "1 %"), strict=False):
        say(f"{size:,} chunks, the tenant with {share}")
        questions, nearest = await asyncio.to_thread(prepare_questions, url, owner, corpus.writer)
        with redirect_stdout(StringIO()):  # a search writes its metric there
            figures = await measure_owner(TenantDatabase(pool, owner.tenant), owner, questions, nearest)
        rows.append([f"{size:,}", share, *figures.describe()])
    return rows


def prepare_questions(url: str, owner: Owner, writer: Writer) -> tuple[list[Question], list[list[UUID]]]:
    """Questions about chunks of the tenant, and the ids of the truly nearest chunks of each."""
    questions, nearest = [], []
    with psycopg.connect(url, autocommit=True, options="-c search_path=oria,public") as connection:
        chunks = connection.execute(READ_CHUNKS_SQL, (owner.tenant, WARMING + SAMPLES)).fetchall()
        for number in range(WARMING + SAMPLES):
            chunk, document, text = chunks[number % len(chunks)]
            rows = connection.execute(READ_VECTORS_SQL, (owner.index, document)).fetchall()
            vectors = {key: np.array(json.loads(vector), np.float32) for key, vector in rows}
            question = writer.question(text, vectors[chunk], np.stack(list(vectors.values())))
            values = (owner.index, str(question.vector), max(DEPTHS))
            questions.append(question)
            nearest.append([row[0] for row in connection.execute(FIND_NEAREST_SQL, values).fetchall()])
    return questions, nearest


async def measure_owner(
    database: TenantDatabase, owner: Owner, questions: Sequence[Question], nearest: Sequence[Sequence[UUID]]
) -> Figures:
    """Every question once; the first ones warm the caches."""
    figures = Figures()
    for number, (question, true) in enumerate(zip(questions, nearest, strict=True)):
        started = time.perf_counter()
        retrieval = await retrieve(database, cast("Models", Embedded(question.vector)), question.words)
        searched = time.perf_counter()
        async with database.transaction() as connection:
            known = await has_knowledge(connection)
        asked = time.perf_counter()
        if not (known and retrieval.by_vector):
            raise BenchError("the generated knowledge was not searched")
        if number < WARMING:
            continue
        figures.seconds.append(searched - started)
        figures.asking.append(asked - searched)
        found = await list_nearest(database, owner, question)
        for depth, shares in figures.recall.items():
            shares.append(len(set(found[:depth]) & set(true[:depth])) / min(depth, len(true)))
    return figures


async def list_nearest(database: TenantDatabase, owner: Owner, question: Question) -> list[UUID]:
    """The vector list of a search, best first."""
    asked = {"vector": str(list(question.vector)), "index": owner.index, "depth": CANDIDATES}
    async with database.transaction() as connection:
        return [row["chunk_id"] for row in await (await connection.execute(SEARCH_BY_VECTOR_SQL, asked)).fetchall()]
