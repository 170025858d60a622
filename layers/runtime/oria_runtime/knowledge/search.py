"""Finding passages: full text and vectors in the database, fused by reciprocal ranks, neighbours merged.

Both lists are SECURITY DEFINER functions that apply the transaction's tenant (DESIGN §7, migration 0010). Everything
that a search reads is read from one snapshot: a document that is swapped meanwhile is found whole, old or new.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
from aws_lambda_powertools.metrics import MetricUnit

from oria_runtime.catalog.fusion import fuse_scores
from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.db.text import clean_text
from oria_runtime.errors import ConfigurationError
from oria_runtime.knowledge.evidence import Hits, find_hits
from oria_runtime.knowledge.indexes import Index, find_active
from oria_runtime.knowledge.limits import (
    FUSION_K,
    MERGED_HITS,
    PASSAGE_CHARACTERS,
    PASSAGES,
    PASSAGES_OF_A_DOCUMENT,
    QUERY_CHARACTERS,
    QUERY_EMBEDDING_SECONDS,
)
from oria_runtime.knowledge.passages import Chunk, Passage, build_passages
from oria_runtime.knowledge.queries import write_query
from oria_runtime.models.errors import ModelError
from oria_runtime.observability import count, describe

if TYPE_CHECKING:
    from oria_runtime.models.client import Models

__all__ = ["Passage", "Retrieval", "retrieve", "search_passages"]

logger = logging.getLogger(__name__)

READ_CHUNKS_SQL = """
select chunk.id, chunk.document_id, document.source_id, document.title, document.location, chunk.ordinal, chunk.path,
    chunk.anchor, chunk.content
from (
    select distinct near.id
    from knowledge_chunks as hit
    join knowledge_chunks as near
        on near.document_id = hit.document_id and near.ordinal between hit.ordinal - 1 and hit.ordinal + 1
    where hit.id = any(%s)
) as wanted
join knowledge_chunks as chunk using (id)
join knowledge_documents as document on document.id = chunk.document_id
"""


@dataclass(frozen=True)
class Found:
    """What a search found: in each list, and altogether. `hits.by_vector` is None when it had no vector."""

    hits: Hits
    passages: list[Passage]


@dataclass(frozen=True)
class Retrieval:
    """The passages for a question, best first.

    `by_vector` False: the question could not be compared by its meaning although the tenant's chunks have vectors.
    Nothing found is then no miss: it could not be checked.
    """

    passages: Sequence[Passage]
    by_vector: bool


async def search_passages(
    database: TenantDatabase,
    *,
    words: str,
    vector: Sequence[float] | None,
    index: Index | None,
    limit: int = PASSAGES,
) -> list[Passage]:
    """The tenant's passages for these words, best first; none where nothing is evidence.

    Args:
        words: the question as text. Each chunk is matched in its own language.
        vector: the question's embedding of 512 dimensions by the model of `index`, or None for text alone.
    """
    async with database.transaction(snapshot=True) as connection:
        return (await _find(connection, words, vector, index, limit)).passages


async def retrieve(database: TenantDatabase, models: "Models", query: str, *, limit: int = PASSAGES) -> Retrieval:
    """The passages for a question in words, embedded with the active index's own model.

    Where it cannot be embedded in time, its words alone are searched for. What was found is counted for the tenant's
    metrics (`queries`), without the question. Raises psycopg.Error when the database does not answer.
    """
    question = clean_text(query).strip()[:QUERY_CHARACTERS]
    if not question:
        return Retrieval([], by_vector=True)
    started = time.perf_counter()
    async with database.transaction() as connection:
        current = await find_active(connection)
    found = None
    while found is None:
        index, vector = current, await _embed(models, current, question)
        async with database.transaction(snapshot=True) as connection:
            # A new version may have become active meanwhile: its vectors are another model's, which is asked then.
            current = await find_active(connection)
            if (current and current.id) == (index and index.id):
                found = await _find(connection, question, vector, index, limit)
    await _record(database, found, index, (time.perf_counter() - started) * 1000)
    return Retrieval(found.passages, by_vector=index is None or vector is not None)


async def _embed(models: "Models", index: Index | None, question: str) -> Sequence[float] | None:
    """The question's vector by the index's model; None where it cannot be had, or nothing can be compared with it."""
    if index is None:
        return None
    try:
        [vector] = await models.embed([question], timeout=QUERY_EMBEDDING_SECONDS, address=index.address)
    except (ModelError, ConfigurationError) as error:
        logger.warning(
            "question not embedded: searched by its words", extra={"model": index.model, "error": error.code}
        )
        return None
    return vector


async def _find(
    connection: Connection, words: str, vector: Sequence[float] | None, index: Index | None, limit: int
) -> Found:
    """The search, inside a transaction that sees one snapshot."""
    hits = await find_hits(connection, words=words, vector=vector, index=index)
    lists: list[tuple[float, Sequence[UUID]]] = [(1.0, hits.by_text), (1.0, hits.by_vector or ())]
    scores = dict(islice(fuse_scores(lists, k=FUSION_K).items(), MERGED_HITS))
    if not scores:
        return Found(hits, [])
    cursor = await connection.execute(READ_CHUNKS_SQL, (list(scores),))
    chunks = [Chunk(**row) for row in await cursor.fetchall()]
    passages = build_passages(
        scores, chunks, limit=limit, of_document=PASSAGES_OF_A_DOCUMENT, characters=PASSAGE_CHARACTERS
    )
    return Found(hits, passages)


async def _record(database: TenantDatabase, found: Found, index: Index | None, milliseconds: float) -> None:
    """Count the search. A search that was answered does not fail for it."""
    by_vector = 0 if index is None else None if found.hits.by_vector is None else len(found.hits.by_vector)
    result = "empty" if not found.passages else "found"
    count("knowledge_query_time", milliseconds, unit=MetricUnit.Milliseconds, result=result)
    try:
        async with database.transaction() as connection:
            await write_query(
                connection,
                milliseconds=milliseconds,
                by_text=len(found.hits.by_text),
                by_vector=by_vector,
                passages=len(found.passages),
                source_ids={passage.source_id for passage in found.passages},
            )
    except (psycopg.Error, OSError) as error:
        logger.warning("search not counted", extra=describe(error))
