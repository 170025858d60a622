"""Embeddings over HTTP."""

import math

import pytest

from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelMalformedError, ModelTimeoutError, ModelUnavailableError
from tests.support.scripted_model import Script, embed_with, fail, hang


async def test_texts_are_embedded_in_order_and_in_batches(script: Script, models: Models) -> None:
    texts = [f"text {number}" for number in range(300)]
    vectors = await models.embed(texts)
    assert [len(vector) for vector in vectors] == [512] * 300
    assert vectors[7] == (await models.embed(["text 7"]))[0]
    assert vectors[7] != vectors[8]
    assert [len(seen.body["input"]) for seen in script.requests] == [256, 44, 1]
    assert {seen.body["dimensions"] for seen in script.requests} == {512}
    assert models.usage.labels["embeddings"].calls == 3
    assert models.usage.labels["embeddings"].input_tokens > 300


async def test_nothing_to_embed_asks_nobody(script: Script, models: Models) -> None:
    assert await models.embed([]) == []
    assert not script.requests


@pytest.mark.parametrize(
    "vectors",
    [[[0.1] * 511], [[0.1] * 512, [0.1] * 512], [], [[math.nan] * 512], [[math.inf] * 512]],
    ids=["short", "too many", "none", "nan", "infinite"],
)
async def test_vectors_that_are_none_are_malformed(script: Script, models: Models, vectors: list[list[float]]) -> None:
    script.on().reply(embed_with(vectors))
    with pytest.raises(ModelMalformedError):
        await models.embed(["text"])


async def test_embeddings_are_retried_like_everything_else(script: Script, models: Models) -> None:
    script.on().reply(fail(503, retry_after=0.01))
    with pytest.raises(ModelUnavailableError):
        await models.embed(["text"])
    assert len(script.requests) == 3


async def test_embeddings_keep_their_deadline(script: Script, models: Models) -> None:
    script.on().reply(hang())
    with pytest.raises(ModelTimeoutError):
        await models.embed(["text"], timeout=0.2)
