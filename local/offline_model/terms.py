"""What a request names: places, organisations, departments, roles, and subjects such as skills, tools and languages.

They are heard by form, in English, French and Spanish: capital letters, and the words before or after them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from local.offline_model.embedder import Embedder
from local.offline_model.names import list_runs
from local.offline_model.sentences import split_sentences

Kind = Literal["place", "organisation", "department", "role", "subject"]

# How a field or a value is called that holds terms of a kind.
LABELS: Final[Mapping[Kind, Sequence[str]]] = {
    "place": ("location", "town", "country"),
    "organisation": ("employer", "company"),
    "department": ("department", "organisational unit"),
    "role": ("job title", "role", "profession"),
    "subject": ("skill", "skill label", "competence"),
}
LABEL_CLOSE: Final = 0.6
# A capitalised word without a telling neighbour is a place if it is closer to places than to subjects.
PLACES: Final = ("Paris", "London", "Milan", "Chicago", "Tokyo", "Germany", "Portugal", "Valencia", "Leeds", "Bremen")
SUBJECTS: Final = ("Java", "Photoshop", "statistics", "accounting", "Linux", "marketing", "German language", "welding")
# Names of people are no terms (names.py).
PEOPLE: Final = ("Anna", "Peter Novak", "Mr Miller", "Sofía García", "Mme Martin", "Chen Li", "Robert")
ARTICLE: Final = r"(?:(?:the|an?|le|la|les|du|des|de|del|el|los|las|en|with|about)\s+|l['’])*"
KNOWING: Final = re.compile(
    r"\b(?:knows?|speaks?|masters?|masterin?g|skills? in|skilled in|experience (?:in|with|of)|experts? (?:in|on)|"
    r"conna\w+|ma[iî]tris\w*|parl(?:e|ent)|exp[ée]rience (?:en|avec)|experts? en|comp[ée]tences? en|"
    r"sabe[n]?|conoce[n]?|domin[ae]n?|habl[ae]n?|experiencia (?:en|con)|expert[oa]s? en)\s+"
    rf"{ARTICLE}(?P<term>[^\W\d_][\w+#'’-]*(?:\s+(?!(?:and|or|in|at|who|for|from|et|ou|à|qui|y|o|en|que|a)\b)[\w+#'’-]+)?)",
    re.IGNORECASE,
)
ROLE: Final = re.compile(
    r"\b(?:(?:does|do|is|as|being|become|becoming|of) an?|"
    r"(?:m[ée]tier|r[ôo]le|poste|puesto|oficio|profesi[óo]n) (?:de |d['’])|"
    r"(?:fait|hace|comme|como) une?a?|devenir|ser)\s*"
    r"(?P<term>[^\W\d_][\w'’-]*(?:\s+(?!(?:do|does|here|in|at|earn|need|actually|really|ici|aquí)\b)[\w'’-]+){0,3})",
    re.IGNORECASE,
)
EMPLOYED: Final = re.compile(
    r"(?:\b(?:work\w*|been|employed|came|come) (?:for|at|from)|\bchez|\b(?:trabaja\w*|viene\w*) (?:en|para|de))\s+$",
    re.I,
)
DEPARTMENT_BEFORE: Final = re.compile(
    r"\b(?:department of|(?:service|département|direction)(?: de| du| des| d['’])?|departamento de|[áa]rea de)\s+$",
    re.IGNORECASE,
)
# Names in a row share the word before the first.
PLACED: Final = re.compile(
    r"(?:\b(?:in|at|near|from|around|or|and|à|au|aux|en|vers|de|et|ou|desde|y|o|a)|,)\s+$", re.IGNORECASE
)
DEPARTMENT_AFTER: Final = re.compile(r"\s+department\b", re.IGNORECASE)


@dataclass(frozen=True)
class Term:
    """A piece of a request and what it is the name of."""

    text: str
    kind: Kind


class TermFinder:
    """Hears the terms of texts, and which field or value is there for them."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def find(self, text: str) -> list[Term]:
        """The terms in their order, each once."""
        found = {term.text.casefold(): term for sentence in split_sentences(text) for term in self._hear(sentence)}
        return list(found.values())

    def name_kind(self, label: str) -> Kind | None:
        """The kind of terms that a field or value of this name holds, if any."""
        closest = {kind: self._embedder.closest([label], labels) for kind, labels in LABELS.items()}
        best = max(closest, key=lambda kind: closest[kind])
        return best if closest[best] >= LABEL_CLOSE else None

    def _hear(self, sentence: str) -> Iterator[Term]:
        sentence = sentence.strip(" ¿¡")
        known = [match.group("term") for match in KNOWING.finditer(sentence)]
        for term in known:
            kind = self._classify(term, sentence) if term[0].isupper() else "subject"
            yield Term(term, kind or "subject")
        yield from (Term(match.group("term"), "role") for match in ROLE.finditer(sentence))
        for run in list_runs(sentence):
            name = " ".join(run)
            # The first word of a sentence is capitalised anyway.
            alone = len(run) == 1 and sentence.startswith(name) and not name.isupper()
            if name not in sentence or alone or any(name in term or term in name for term in known):
                continue
            if kind := self._classify(name, sentence):
                yield Term(name, kind)

    def _classify(self, name: str, sentence: str) -> Kind | None:
        """The kind of a capitalised name by the words around it, else by its likeness; None for a person."""
        before, _, after = sentence.partition(name)
        if EMPLOYED.search(before):
            return "organisation"
        if DEPARTMENT_BEFORE.search(before) or DEPARTMENT_AFTER.match(after):
            return "department"
        kinds: tuple[tuple[Kind | None, Sequence[str]], ...] = (("subject", SUBJECTS), (None, PEOPLE))
        if PLACED.search(before):
            kinds = (("place", PLACES), *kinds)
        return max(kinds, key=lambda kind: self._embedder.closest([name], kind[1]))[0]
