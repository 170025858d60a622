"""What a person sees of a research while it goes on: fixed words, and nothing of what is asked, read or thought."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from graph.oria.language import pick_text
from graph.oria.tools.read_knowledge_page import NAME as READ
from graph.oria.tools.search_knowledge_sources import NAME as SEARCH
from oria_runtime.turns.progress import emit_activity_completed, emit_activity_started

KIND: Final = "research"
COMPARE: Final = "compare_evidence"
COMMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    SEARCH: {
        "en": "Searching the company's documents and pages",
        "fr": "Recherche dans les documents et les pages de l'entreprise",
        "es": "Buscando en los documentos y páginas de la empresa",
    },
    READ: {
        "en": "Reading a page of the company",
        "fr": "Lecture d'une page de l'entreprise",
        "es": "Leyendo una página de la empresa",
    },
    COMPARE: {
        "en": "Comparing what was found",
        "fr": "Comparaison de ce qui a été trouvé",
        "es": "Comparando lo encontrado",
    },
}


@dataclass
class Step:
    """A step at work; an `error` unless told otherwise."""

    status: str = "error"


@contextmanager
def comment(activity_id: str, name: str, locale: str) -> Iterator[Step]:
    """Tell the person of a step from its beginning to its end, also when it is broken off.

    A name that has no words of ours is the model's invention and is not shown.
    """
    step = Step()
    shown = COMMENTS.get(name)
    if shown:
        emit_activity_started(activity_id, KIND, name, pick_text(shown, locale))
    try:
        yield step
    finally:
        if shown:
            emit_activity_completed(activity_id, KIND, name, step.status)
