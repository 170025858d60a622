"""The language of a text, for the dictionary of its full text search."""

from functools import lru_cache
from importlib import import_module
from typing import Any, Final

# As much as tells languages apart, not the whole of a long document.
CHARACTERS: Final = 2_000


def detect_language(text: str) -> str | None:
    """The ISO 639-1 code of the text's language, None where it cannot be told. Loads its n-grams at first (60 ms)."""
    result = _load_detector().detect(text[:CHARACTERS])
    return str(result.language) if result.language and result.is_reliable() else None


@lru_cache(maxsize=1)
def _load_detector() -> Any:
    """A detector of its own: that of turns is set to a tenant's few languages."""
    return import_module("eld").LanguageDetector()
