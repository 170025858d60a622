"""What tells choices apart that are described at length: each clause of a description is an example of its choice.

Two readings of a message are added, because they fail on different messages: how close it is to the closest examples of
each choice, and which choice a ridge regression over all examples gives it. The second looks at the difference between
choices instead of the likeness to one: two choices about colleagues both resemble a message about a colleague.

The encoder puts sentences of one language near each other, whatever they say: each language's mean is taken away. It
hardly sees single words, such as the one that asks for a person: their own vector is put beside it (words.py).
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from local.offline_model.embedder import Embedder
from local.offline_model.phrases import LANGUAGES, Language, detect_language
from local.offline_model.sentences import describe, sample_text
from local.offline_model.words import WordSpace

Rows = NDArray[np.float64]
Choice = TypeVar("Choice", bound=str | int)

# Fewer examples of a choice say nothing about its borders: then likeness alone is the better guide.
EXAMPLES: Final = 12
# A mean of fewer clauses is one of their subjects; the mean of all languages is taken instead.
LANGUAGE_EXAMPLES: Final = 12
# These were chosen on `evals/routing.ndjson` and `routing_hard.ndjson`; their neighbours do within two points of them.
CLOSEST: Final = 3
WORDS: Final = 0.6
PENALTY: Final = 3.0
REGRESSION: Final = 0.5


def has_examples(descriptions: Mapping[Choice, str]) -> bool:
    """Whether there are choices to tell apart, each with examples enough."""
    return len(descriptions) > 1 and all(len(describe(text)) >= EXAMPLES for text in descriptions.values())


class Contrast:
    """The choices of one question, fitted once: some milliseconds beyond the embedding of their clauses."""

    def __init__(self, embedder: Embedder, descriptions: Sequence[str]) -> None:
        clauses = [(clause, number) for number, text in enumerate(descriptions) for clause in describe(text)]
        texts = [clause for clause, _ in clauses]
        self._embedder = embedder
        self._words = WordSpace(texts)
        self._owners = np.array([number for _, number in clauses])
        languages = [detect_language(text) for text in texts]
        self._means = find_means(np.asarray(embedder.embed(texts), np.float64), languages)
        self._examples = self._embed(texts, languages)
        self._weights = fit(self._examples, self._owners, len(descriptions))

    def weigh(self, text: str) -> list[float]:
        """A score for each description: comparable with each other, with nothing else."""
        samples = sample_text(text)
        rows = self._embed(samples, [detect_language(text)] * len(samples))
        similarities = (rows @ self._examples.T).max(axis=0)
        given = (rows @ self._weights).mean(axis=0)
        return [
            float(np.sort(similarities[self._owners == number])[-CLOSEST:].mean() + REGRESSION * share)
            for number, share in enumerate(given)
        ]

    def _embed(self, texts: Sequence[str], languages: Sequence[Language]) -> Rows:
        vectors = np.asarray(self._embedder.embed(texts), np.float64)
        meanings = normalize(vectors - np.stack([self._means[language] for language in languages]))
        return np.hstack([meanings, WORDS * self._words.embed(texts)])


def find_means(vectors: Rows, languages: Sequence[Language]) -> dict[Language, Rows]:
    """The mean of each language's clauses; of all clauses where it has few."""
    own = {language: np.array([spoken == language for spoken in languages]) for language in LANGUAGES}
    return {
        language: (vectors[rows] if rows.sum() >= LANGUAGE_EXAMPLES else vectors).mean(axis=0)
        for language, rows in own.items()
    }


def fit(examples: Rows, owners: NDArray[np.int_], count: int) -> Rows:
    """Ridge regression in its dual form, for fewer examples than dimensions; every choice weighs the same."""
    weights = (1.0 / np.bincount(owners, minlength=count))[owners]
    weights /= weights.mean()
    targets = np.eye(count)[owners]
    targets -= np.average(targets, axis=0, weights=weights)
    kernel = examples @ examples.T + PENALTY * np.diag(1.0 / weights)
    return np.asarray(examples.T @ np.linalg.solve(kernel, targets))


def normalize(rows: Rows) -> Rows:
    """Rows of length one; a zero row stays zero."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
