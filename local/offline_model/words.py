"""Which words texts share: what the sentence encoder hardly sees, "who" against "what", and rare words exactly."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from local.offline_model.sentences import list_words

# Beginnings of words stand for their forms: plurals, genders, tenses in all three languages.
STEM: Final = 5


class WordSpace:
    """Vectors of the words of some texts, rare ones weighing more; a word of none of them only makes a text longer."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter(stem for text in texts for stem in set(list_stems(text)))
        self._places = {stem: place for place, stem in enumerate(counts)}
        self._weights = {stem: math.log1p(len(texts) / count) for stem, count in counts.items()}
        self._unknown = math.log1p(len(texts))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row for each text, no longer than one."""
        rows = np.zeros((len(texts), len(self._places)))
        for row, text in zip(rows, texts, strict=True):
            weights = {stem: self._weights.get(stem, self._unknown) for stem in list_stems(text)}
            length = math.sqrt(sum(weight**2 for weight in weights.values()))
            for stem, weight in weights.items():
                if stem in self._places:
                    row[self._places[stem]] = weight / length
        return rows


def list_stems(text: str) -> list[str]:
    return [word[:STEM] for word in list_words(text)]
