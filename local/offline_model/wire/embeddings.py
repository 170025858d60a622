"""`/v1/embeddings`: texts in, vectors out, as numbers or as the base64 that the SDK asks for by default."""

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from local.offline_model.wire.answers import approximate_tokens


def read_texts(body: Mapping[str, Any]) -> list[str]:
    """The texts of a request.

    Raises ValueError for empty texts, as the provider does, and for token arrays, which need its own tokenizer.
    """
    given = body["input"]
    texts = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("input must be a string or a list of strings")
    if not texts or not all(texts):
        raise ValueError("input must not be empty")
    return texts


def render_embeddings(body: Mapping[str, Any], vectors: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The body for the vectors of a request's texts."""
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": pack(vector) if packed else list(vector)}
        for index, vector in enumerate(vectors)
    ]
    tokens = sum(approximate_tokens(len(text)) for text in read_texts(body))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def pack(vector: Sequence[float]) -> str:
    """Little-endian 32-bit floats in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
