"""Hard filters that a request states in so many words, in English, French or Spanish.

Only unmistakable phrases count: "online courses" limits the format, "online marketing" is a topic. A phrase after a
negation sets nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

from graph.oria.tools.training_finder.durations import MINUTES, NUMBER, alternatives, read_minutes
from oria_runtime.catalog.search import TrainingFilters

COURSE: Final = r"(?:trainings?|courses?|class(?:es)?|modules?|formations?|cours|modules?|cursos?|formaci(?:ón|ones))"

LEVELS: Final[Mapping[str, str]] = {
    "beginner": rf"(?:beginners?|introductory) {COURSE}|(?:for|pour|para) (?:absolute )?(?:beginners?|débutant(?:e?s)?"
    r"|principiantes?)|beginner level|niveau débutant|nivel principiante",
    "intermediate": rf"intermediate {COURSE}|(?:intermediate level|niveau intermédiaire|nivel intermedio)",
    "advanced": rf"advanced {COURSE}|(?:advanced level|niveau avancé|nivel avanzado)",
}
FORMATS: Final[Mapping[str, str]] = {
    "online": rf"e-?learning|online {COURSE}|{COURSE} (?:online|en ligne|en línea)",
    "video": rf"video {COURSE}|{COURSE} (?:vidéo|en vídeo|on video)|(?:as|en|only) vid[ée]os?",
    "virtual_class": r"virtual class(?:es|rooms?)?|classes? virtuelles?|(?:aulas?|clases?) virtual(?:es)?|webinars?",
    "classroom": r"classroom (?:training|course)s?|in[- ]person|face[- ]to[- ]face|présentiel(?:le)?|presencial",
    "blended": r"blended|formations? hybrides?|semipresencial",
}
LANGUAGES: Final[Mapping[str, str]] = {
    "en": rf"{COURSE} (?:only )?(?:in english|en anglais|en inglés)",
    "fr": rf"{COURSE} (?:only )?(?:in french|en français|en francés)",
    "es": rf"{COURSE} (?:only )?(?:in spanish|en espagnol|en español)",
}
NEGATION: Final = r"(?<!\bno )(?<!\bnot )(?<!\bpas )(?<!\bsin )(?<!\bsans )(?<!\bwithout )"
AT_MOST: Final = re.compile(
    r"(?:under|less than|at most|no more than|up to|max(?:imum)?|shorter than|moins de|au plus|menos de|como máximo)"
    rf"\s+{NUMBER}\s*(?:{alternatives(MINUTES)})\b",
    re.IGNORECASE,
)


def resolve_filters(text: str, *, is_plan: bool) -> TrainingFilters:
    """The filters of a text. A plan's durations are about the plan, not about a training."""
    limit = None if is_plan else AT_MOST.search(text)
    return TrainingFilters(
        languages=find_values(LANGUAGES, text),
        levels=find_values(LEVELS, text),
        formats=find_values(FORMATS, text),
        max_minutes=read_minutes(limit[0]) if limit else None,
    )


def find_values(patterns: Mapping[str, str], text: str) -> list[str] | None:
    """The values whose phrases occur, or None for no limit."""
    stated = {value: rf"{NEGATION}\b(?:{pattern})\b" for value, pattern in patterns.items()}
    return [value for value, pattern in stated.items() if re.search(pattern, text, re.IGNORECASE)] or None
