"""Which rows need a new embedding, and asking for them."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Protocol

from oria_runtime.catalog.loading.errors import ImportStoppedError

TEXTS_PER_CALL = 128
DIMENSIONS = 512


class Embedder(Protocol):
    """The part of oria_runtime.models.client.Models that an import needs."""

    embedding_model: str

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of 512 numbers per text."""
        ...


def hash_embedded(model: str, text: str) -> str:
    """What an embedding was made from: a change of text or of model makes another hash."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[str]:
    """The vectors as Postgres reads them. The calls for one batch of rows run side by side.

    Raises ImportStoppedError when the model answers with another shape; errors of the model pass.
    """
    calls = []
    try:
        async with asyncio.TaskGroup() as group:
            for start in range(0, len(texts), TEXTS_PER_CALL):
                calls.append(group.create_task(embedder.embed(texts[start : start + TEXTS_PER_CALL])))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    vectors = [vector for call in calls for vector in call.result()]
    if len(vectors) != len(texts) or any(len(vector) != DIMENSIONS for vector in vectors):
        raise ImportStoppedError(
            f"the embedding model {embedder.embedding_model} did not answer with one vector of {DIMENSIONS} numbers"
            " per text: choose a model that can, in the tenant's configuration or with EMBEDDING_MODEL"
        )
    return [format_vector(vector) for vector in vectors]


def format_vector(vector: Sequence[float]) -> str:
    """A vector's text form; nine digits hold a 4-byte float exactly."""
    return "[" + ",".join(f"{number:.9g}" for number in vector) + "]"
