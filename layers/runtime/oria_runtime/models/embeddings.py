"""Embeddings: 512 dimensions from every model, so that one column holds all of them (DESIGN §7)."""

import math
from collections.abc import Sequence
from typing import Any

from langchain_openai import OpenAIEmbeddings
from openai import AsyncOpenAI

from oria_runtime.models.errors import ModelMalformedError
from oria_runtime.models.failures import provider_errors
from oria_runtime.models.prices import Tokens
from oria_runtime.models.profiles import ResolvedModel
from oria_runtime.models.providers import Endpoint
from oria_runtime.models.transport import MAX_RETRIES, TASK_HEADER, hide_account, open_client
from oria_runtime.models.usage import Usage

DIMENSIONS = 512
BATCH_SIZE = 256
LABEL = "embeddings"


class CountedEmbeddings:
    """The SDK's embeddings resource as OpenAIEmbeddings uses it, which drops the usage of each answer."""

    def __init__(self, client: AsyncOpenAI, model: ResolvedModel, usage: Usage) -> None:
        self._client = client
        self._model = model
        self._usage = usage

    async def create(self, **kwargs: Any) -> Any:
        response = await self._client.embeddings.create(**kwargs)
        tokens = Tokens(input=response.usage.prompt_tokens) if response.usage else None
        served = self._model.name_served(response.model)
        self._usage.record(LABEL, served, tokens, provider=self._model.provider, price=self._model.price)
        return response


async def embed_texts(
    model: ResolvedModel, endpoint: Endpoint, usage: Usage, texts: Sequence[str]
) -> list[list[float]]:
    """A vector for each text, in order. Raises ModelError subclasses."""
    embeddings = OpenAIEmbeddings(
        model=model.model,
        openai_api_key=endpoint.read_key,
        openai_api_base=endpoint.base_url,
        async_client=CountedEmbeddings(open_embedding_client(model, endpoint), model, usage),
        dimensions=DIMENSIONS,
        # Otherwise texts are tokenised with tiktoken, which downloads its tables.
        check_embedding_ctx_length=False,
        chunk_size=BATCH_SIZE,
    )
    with provider_errors():
        vectors = await embeddings.aembed_documents(list(texts))
    check_vectors(vectors, len(texts))
    return vectors


def open_embedding_client(model: ResolvedModel, endpoint: Endpoint) -> AsyncOpenAI:
    """The SDK's client of the provider."""
    if model.provider == "azure":
        from oria_runtime.models.openai_chat import open_azure_client

        return open_azure_client(endpoint, model.deployment or model.model, LABEL)
    client = AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.read_key,
        http_client=open_client(),
        max_retries=MAX_RETRIES,
        default_headers={TASK_HEADER: LABEL},
    )
    if model.provider != "openai":
        hide_account(client)
    return client


def check_vectors(vectors: Sequence[Sequence[float]], expected: int) -> None:
    """Raise ModelMalformedError unless there are that many vectors of 512 finite numbers."""
    if len(vectors) != expected or any(len(vector) != DIMENSIONS for vector in vectors):
        raise ModelMalformedError(f"the embeddings are not {expected} vectors of {DIMENSIONS} numbers")
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise ModelMalformedError("an embedding is not finite")
