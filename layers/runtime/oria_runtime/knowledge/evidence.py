"""The two ranked lists of a search, and what in them is evidence.

A list of nearest vectors always has its k rows, however far away they are, and any word of a question may be somewhere.
So a hit needs a similarity that matches have in the embedding model's space, or most of the question's words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_text
from oria_runtime.knowledge.indexes import Index
from oria_runtime.knowledge.limits import CANDIDATES, QUERY_CHARACTERS

# The least cosine of a question and a chunk that answers it. Measured on 60 questions in three languages that a
# handbook of 246 pages answers, and 36 that it does not (evals/knowledge*.ndjson; recall@5 of the right page, and the
# share of the unrelated questions that find nothing): without 0.78 and 0 %, at 0.21 0.78 and 47 %, at 0.22 0.77 and
# 56 %, at 0.25 0.75 and 81 %, at 0.30 0.67 and 89 %. At 0.21 no answer is lost; whether a passage answers is for its
# reader to say.
SIMILARITIES: Final[Mapping[str, float]] = {"offline-use-multilingual": 0.21}
# For models that nobody has measured. Low: a passage that does not answer costs a reading, a lost one the answer.
UNMEASURED: Final = 0.2
# The share of a question's words, rare ones counting more, that a chunk must have to be a hit by its words alone. On
# the same questions: at 0.4 the words that unrelated texts share push right pages out (recall@5 down by 0.02), from 0.5
# on they do not, and "Why do cats purr?" finds nothing.
COVERAGE: Final = 0.5

SEARCH_BY_TEXT_SQL = "select chunk_id from search_knowledge_by_text(%(words)s, %(coverage)s, %(depth)s)"
SEARCH_BY_VECTOR_SQL = """
select chunk_id, strength from search_knowledge_by_vector(%(vector)s::public.halfvec, %(index)s, %(depth)s)
"""


@dataclass(frozen=True)
class Hits:
    """Ids of chunks, best first. `by_vector` is None when there was no vector to search with."""

    by_text: Sequence[UUID]
    by_vector: Sequence[UUID] | None


async def find_hits(connection: Connection, *, words: str, vector: Sequence[float] | None, index: Index | None) -> Hits:
    """Both lists in one round trip, cut to what is evidence. `vector` is the words' by the index's model."""
    asked = {"words": clean_text(words)[:QUERY_CHARACTERS], "coverage": COVERAGE, "depth": CANDIDATES}
    async with connection.pipeline():
        texts = await connection.execute(SEARCH_BY_TEXT_SQL, asked)
        vectors = None
        if vector is not None and index is not None:
            asked |= {"vector": str(list(vector)), "index": index.id}
            vectors = await connection.execute(SEARCH_BY_VECTOR_SQL, asked)
    by_text = [row["chunk_id"] for row in await texts.fetchall()]
    if vectors is None or index is None:
        return Hits(by_text, None)
    least = find_similarity(index.model)
    return Hits(by_text, [row["chunk_id"] for row in await vectors.fetchall() if row["strength"] >= least])


def find_similarity(model: str) -> float:
    """The least similarity that is evidence in the model's space."""
    return SIMILARITIES.get(model, UNMEASURED)
