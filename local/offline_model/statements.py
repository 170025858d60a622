"""Lists of statements about a person, such as preferences: kept up to date with what the person says."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from local.offline_model.embedder import Embedder
from local.offline_model.phrases import asks
from local.offline_model.schema_fields import Field, humanize
from local.offline_model.sentences import list_words, split_sentences, unique

# From this similarity on, a statement is what the person takes back.
TAKEN_BACK = 0.3
RETRACTING = re.compile(
    r"\b(?:forget|no longer|not .* any ?more|remove|delete|oublie\w*|ne .* plus|supprime\w*|"
    r"olvida\w*|ya no|borra\w*)\b",
    re.IGNORECASE,
)
OWN = re.compile(r"\b(?:i|i'm|my|me|je|j'\w+|mon|ma|mes|moi|yo|mi|mis|me)\b", re.IGNORECASE)


def is_kept_list(field: Field, data: Mapping[str, Any]) -> bool:
    """Whether the list is one of statements that the data already holds by a similar name."""
    last = list_words(humanize(field.name))[-1:]
    lists = [key for key, value in data.items() if isinstance(value, list)]
    return any(last and last == list_words(humanize(key))[-1:] for key in lists)


def revise(kept: Sequence[str], latest: str, embedder: Embedder) -> list[str]:
    """The list without what the person takes back, with what they say of themselves."""
    said = [sentence for sentence in split_sentences(latest) if OWN.search(sentence)]
    taken_back = [sentence for sentence in said if RETRACTING.search(sentence)]
    left = [text for text in kept if embedder.closest([text], taken_back) < TAKEN_BACK]
    new = [text for text in said if text not in taken_back and not asks(text)]
    return unique([*left, *new])
