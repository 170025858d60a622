"""Text that Postgres can hold: no NUL, no lone surrogate.

JSONB and text reject both; a model or a tool may produce either (langchain-ai/langgraph#1878, aegra-ai/aegra#370).
Requests with them are refused at the edge; what comes from inside is cleaned, so that a turn never fails for it.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def clean_text(text: str) -> str:
    """Without NUL; lone surrogates become the replacement character."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_json(value: Any) -> Any:
    """A JSON value with every text in it, keys too, cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [clean_json(item) for item in value]
    return value
