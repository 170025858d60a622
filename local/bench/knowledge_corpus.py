"""Generated knowledge in Postgres: documents of five tenants in chunks of made-up words, with clustered vectors.

The vectors spread as real ones do. Measured on 2,597 chunks of a handbook with the offline embedder: two chunks at
random have a cosine of 0.19, the closest one of 0.68, the tenth of 0.54, and forty directions hold 55 % of the
variance, eighty 72 %. Isotropic noise would have no neighbourhoods, and every recall measured in it would be too low.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray

from local.bench.catalogue import SHARES, add_tenant

MODEL = "bench"
DIMENSIONS = 512
CHUNKS_OF_A_DOCUMENT = 10
WORDS_OF_A_CHUNK = 80
SOURCES_OF_A_TENANT = 3
TOPICS, WORDS, WORDS_OF_A_TOPIC = 500, 30_000, 200
BATCH = 2_000  # documents
PROGRESS_SECONDS = 15.0
# Of the variance round the mean: what a topic, a document and a chunk have of their own. With the mean's length, these
# give the cosines above.
SHARE_OF_TOPIC, SHARE_OF_DOCUMENT, SHARE_OF_CHUNK = 0.3, 0.3, 0.4
LENGTH_OF_MEAN = 0.44
# A question is about a chunk and its document, and it spreads in more directions than chunks do. Measured on 60
# questions with that handbook: cosines of 0.055 ± 0.067, the closest chunk 4.9 standard deviations above, the tenth
# 3.5.
LIKENESS, QUESTION_FLATNESS, QUESTION_MEAN = 0.42, 0.3, 0.12

Vectors = NDArray[np.float32]
Say = Callable[[str], None]

# Built after loading; the definitions are those of the migrations.
SLOW_INDEXES_SQL = """
select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition, pg_relation_size(indexrelid)
from pg_index join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
where indrelid in ('knowledge_chunks'::regclass, 'knowledge_vectors'::regclass) and amname in ('gin', 'hnsw')
"""
PROGRESS_SQL = """
select phase, round(100.0 * blocks_done / nullif(blocks_total, 0)) as share from pg_stat_progress_create_index
"""
DOCUMENT_COLUMNS = {
    "id": "uuid", "tenant_id": "uuid", "source_id": "uuid", "location": "text", "title": "text", "status": "text",
}  # fmt: skip
VECTOR_COLUMNS = {"index_id": "uuid", "chunk_id": "uuid", "tenant_id": "uuid", "embedding": "bytea"}
CHUNK_COLUMNS = {
    "id": "uuid", "tenant_id": "uuid", "document_id": "uuid", "ordinal": "int4", "path": "text[]", "anchor": "text",
    "content": "text", "language": "text",
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """Words and a vector about one chunk of a tenant."""

    words: str
    vector: Sequence[float]


@dataclass(frozen=True)
class Owner:
    """A tenant with its sources and its index."""

    tenant: UUID
    sources: Sequence[UUID]
    index: UUID


@dataclass(frozen=True)
class Corpus:
    """What was generated: tenants in the order of SHARES."""

    owners: Sequence[Owner]
    writer: "Writer"


class Writer:
    """Makes up texts and vectors, the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self.numbers = np.random.default_rng(seed)
        number = np.arange(DIMENSIONS)
        variance = np.exp(-number / 200) / (number + 10)
        self.spread = np.sqrt((1 - LENGTH_OF_MEAN**2) * variance / variance.sum()).astype(np.float32)
        self.mean = np.zeros(DIMENSIONS, np.float32)
        self.mean[-1] = LENGTH_OF_MEAN
        self.centres = self.noise(TOPICS, SHARE_OF_TOPIC)
        syllables = [first + second for first in "bcdfglmnprstvz" for second in "aeiou"]
        self.words = np.array(
            ["".join(each) + "k" for each in self.numbers.choice(syllables, (WORDS, 4))], dtype=object
        )
        # A few words are everywhere, most are rare, as in any text.
        self.weights = np.cumsum(1 / (np.arange(WORDS) + 5))
        self.weights /= self.weights[-1]

    def noise(self, count: int, share: float) -> Vectors:
        normal = self.numbers.standard_normal((count, DIMENSIONS), dtype=np.float32)
        return np.asarray(normal * self.spread * np.float32(share**0.5))

    def vectors(self, topics: NDArray[np.int64]) -> Vectors:
        """Unit vectors of the chunks of a document on each topic, document by document."""
        documents = self.mean + self.centres[topics] + self.noise(len(topics), SHARE_OF_DOCUMENT)
        chunks = np.repeat(documents, CHUNKS_OF_A_DOCUMENT, axis=0)
        chunks += self.noise(len(chunks), SHARE_OF_CHUNK)
        return normalise(chunks)

    def texts(self, topics: NDArray[np.int64], length: int = WORDS_OF_A_CHUNK) -> list[str]:
        """A text on each topic: half of its words are the topic's own."""
        chosen = np.searchsorted(self.weights, self.numbers.random((len(topics), length)))
        own = self.numbers.integers(WORDS_OF_A_TOPIC, size=chosen.shape) ** 2 // WORDS_OF_A_TOPIC
        own = (topics[:, None] * 59 + own * 131 + 500) % WORDS
        mixed = np.where(self.numbers.random(chosen.shape) < 0.5, own, chosen)
        return [" ".join(row) for row in self.words[mixed]]

    def question(self, text: str, vector: Vectors, document: Vectors) -> Question:
        """Six words of a chunk among two others; a vector about the chunk (its own is `vector`) and its document (the
        vectors of all its chunks), as close to them as a question's is."""
        common = self.words[np.searchsorted(self.weights, self.numbers.random(2))]
        words = [*self.numbers.choice(text.split(), 6), *common]
        about = normalise((vector - self.mean)[None])[0] + normalise((document.mean(axis=0) - self.mean)[None])[0]
        other = self.numbers.standard_normal(DIMENSIONS, dtype=np.float32) * self.spread**QUESTION_FLATNESS
        mixed = LIKENESS * normalise(about[None])[0] + (1 - LIKENESS**2) ** 0.5 * normalise(other[None])[0]
        mixed[-1] += QUESTION_MEAN
        return Question(" ".join(words), normalise(mixed[None])[0].tolist())


def normalise(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def generate(url: str, chunks: int, say: Say, *, seed: int = 1) -> Corpus:
    """Fill the tables of knowledge with that many chunks and build their indexes. `url` is the owner's, who must be a
    superuser (foreign keys are not checked); knowledge that is there already goes."""
    writer = Writer(seed)
    with psycopg.connect(url, autocommit=True, options="-c search_path=oria,public") as connection:
        connection.execute("truncate knowledge_sources, knowledge_indexes cascade")
        connection.execute("delete from tenants")
        connection.execute("set session_replication_role = replica")
        owners = [add_owner(connection, f"bench-{number}") for number in range(len(SHARES))]
        slow = connection.execute(SLOW_INDEXES_SQL).fetchall()
        for name, *_ in slow:
            connection.execute(f"drop index {name}".encode())
        started = time.perf_counter()
        # Each tenant has its share exactly, so that the smallest one has anything at all.
        numbers = np.repeat(np.arange(len(SHARES)), split_shares(chunks // CHUNKS_OF_A_DOCUMENT))
        writer.numbers.shuffle(numbers)
        for begin in range(0, len(numbers), BATCH):
            load(connection, writer, [owners[number] for number in numbers[begin : begin + BATCH]])
            done = min(begin + BATCH, len(numbers)) * CHUNKS_OF_A_DOCUMENT
            if done % (5 * BATCH * CHUNKS_OF_A_DOCUMENT) == 0 or done == chunks:
                say(f"{done:,} of {chunks:,} chunks, {done / (time.perf_counter() - started):,.0f} a second")
        build_indexes(url, connection, [definition for _, definition, _ in slow], say)
        connection.execute("vacuum analyze")
    return Corpus(owners, writer)


def split_shares(documents: int) -> list[int]:
    counts = [max(1, round(documents * share)) for share in SHARES]
    counts[0] += documents - sum(counts)
    return counts


def add_owner(connection: psycopg.Connection, slug: str) -> Owner:
    tenant = add_tenant(connection, slug)
    sources = [add_source(connection, tenant, number) for number in range(SOURCES_OF_A_TENANT)]
    return Owner(tenant, sources, add_index(connection, tenant))


def add_source(connection: psycopg.Connection, tenant: UUID, number: int) -> UUID:
    source = uuid4()
    connection.execute(
        "insert into knowledge_sources (id, tenant_id, name, kind, max_documents, cadence_seconds, created_by)"
        " values (%s, %s, %s, 'upload', 1000000, 86400, 'bench')",
        (source, tenant, f"source {number}"),
    )
    return source


def add_index(connection: psycopg.Connection, tenant: UUID) -> UUID:
    index = uuid4()
    connection.execute(
        "insert into knowledge_indexes (id, tenant_id, model, address, status) values (%s, %s, %s, '{}', 'active')",
        (index, tenant, MODEL),
    )
    return index


def load(connection: psycopg.Connection, writer: Writer, owners: Sequence[Owner]) -> None:
    """A document of each owner, one after the other, as refreshes write them: the chunks of one lie side by side."""
    topics = writer.numbers.integers(TOPICS, size=len(owners))
    texts = writer.texts(np.repeat(topics, CHUNKS_OF_A_DOCUMENT))
    vectors = writer.vectors(topics)
    languages = writer.numbers.choice(["en", "fr", "es"], len(owners), p=[0.7, 0.2, 0.1])
    ids = [uuid4() for _ in texts]
    documents, chunks, embedded = [], [], []
    for row, (owner, language) in enumerate(zip(owners, languages, strict=True)):
        document, source = uuid4(), owner.sources[row % SOURCES_OF_A_TENANT]
        documents.append((document, owner.tenant, source, f"https://{document}", f"{document}", "indexed"))
        for ordinal in range(CHUNKS_OF_A_DOCUMENT):
            number = row * CHUNKS_OF_A_DOCUMENT + ordinal
            text, place = texts[number], (ordinal, [texts[number][:20]], f"a{ordinal}")
            chunks.append((ids[number], owner.tenant, document, *place, text, str(language)))
            embedded.append((owner.index, ids[number], owner.tenant, encode_halfvec(vectors[number])))
    copy(connection, "knowledge_documents", DOCUMENT_COLUMNS, documents)
    copy(connection, "knowledge_chunks", CHUNK_COLUMNS, chunks)
    copy(connection, "knowledge_vectors", VECTOR_COLUMNS, embedded)


def encode_halfvec(vector: Vectors) -> bytes:
    """The binary form of pgvector's type: dimensions, an unused number, then the elements, all big-endian."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f2").tobytes()


def copy(connection: psycopg.Connection, table: str, columns: dict[str, str], rows: Iterable[tuple[Any, ...]]) -> None:
    statement = f"copy {table} ({', '.join(columns)}) from stdin (format binary)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copying:
        copying.set_types(list(columns.values()))
        for row in rows:
            copying.write_row(row)


def build_indexes(url: str, connection: psycopg.Connection, definitions: Sequence[str], say: Say) -> None:
    """Build the indexes in turn, and say how far each is."""
    # The graph of a million vectors is built in memory (2.6 GB) or, ten times slower, on disk.
    connection.execute("set maintenance_work_mem = '4GB'")
    connection.execute("set max_parallel_maintenance_workers = 2")
    for definition in definitions:
        what = definition.partition(" USING ")[2]
        started = time.perf_counter()
        ended = threading.Event()
        watching = threading.Thread(target=watch, args=(url, what, ended, say))
        watching.start()
        try:
            connection.execute(definition.encode())
        finally:
            ended.set()
            watching.join()
        say(f"{time.perf_counter() - started:.0f} s for {what}")


def watch(url: str, what: str, ended: threading.Event, say: Say) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        while not ended.wait(PROGRESS_SECONDS):
            for phase, share in connection.execute(PROGRESS_SQL).fetchall():
                say(f"{what}: {phase}, {share or 0} %")
