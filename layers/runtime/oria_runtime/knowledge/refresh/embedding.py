"""Vectors for chunks: in batches, and around the texts that the model refuses.

A batch that fails is halved until the refused text is alone. A model that refuses everything is not refused texts but
a wrong model: the first refusal is therefore followed by one harmless text.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from oria_runtime.knowledge.refresh.limits import EMBEDDING_SECONDS, TEXTS_PER_CALL
from oria_runtime.models.errors import ModelMalformedError, ModelRefusalError, ModelRequestError

# What is about the texts, not about the provider.
REFUSALS = (ModelMalformedError, ModelRefusalError, ModelRequestError)
PROBE_TEXT = "Opening hours"
# Below, the numbers of a vector of 512 vanish as 16-bit ones.
SMALLEST_NORM = 1e-6


class Models(Protocol):
    """The part of oria_runtime.models.client.Models that a refresh needs."""

    async def embed(
        self,
        texts: Sequence[str],
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        address: Mapping[str, Any] | None = None,
    ) -> list[list[float]]:
        """One vector of 512 numbers for each text."""
        ...


class Embedder:
    """The embeddings of one index during one invocation."""

    def __init__(self, models: Models, address: Mapping[str, Any]) -> None:
        self._models = models
        self._address = address
        self._probed = False

    async def embed(self, texts: Sequence[str]) -> list[str | None]:
        """For each text its vector as Postgres reads it, or None where the model refuses it or has nothing to say.

        Raises ModelError when the provider is away, or its model is none for this index.
        """
        vectors: list[str | None] = []
        for start in range(0, len(texts), TEXTS_PER_CALL):
            vectors += await self._embed(texts[start : start + TEXTS_PER_CALL])
        return vectors

    async def _embed(self, texts: Sequence[str]) -> list[str | None]:
        try:
            answered = await self._models.embed(texts, timeout=EMBEDDING_SECONDS, address=self._address)
        except REFUSALS:
            if len(texts) == 1:
                await self._probe()
                return [None]
            middle = len(texts) // 2
            return [*await self._embed(texts[:middle]), *await self._embed(texts[middle:])]
        return [format_vector(vector) for vector in answered]

    async def _probe(self) -> None:
        """Raise what the model says to a harmless text, if it is an error."""
        if not self._probed:
            await self._models.embed([PROBE_TEXT], timeout=EMBEDDING_SECONDS, address=self._address)
            self._probed = True


def format_vector(vector: Sequence[float]) -> str | None:
    """A vector's text form, of the five digits that a 16-bit number has; None for one without a direction."""
    if math.hypot(*vector) < SMALLEST_NORM:
        return None
    return "[" + ",".join(f"{number:.5g}" for number in vector) + "]"
