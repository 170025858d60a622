"""What a request names, as the values of lists in a schema: terms, values of an enum, and conditions made of both."""

from typing import Any, Final

from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence
from local.offline_model.phrases import SMALL_WORDS
from local.offline_model.schema_fields import Field, humanize, resolve
from local.offline_model.sentences import list_words
from local.offline_model.terms import Term, TermFinder

# A word that means a value of an enum; related ones ("internal" and "internship") are below it.
SAME_WORD: Final = 0.57


class NamedValues:
    """Finds the values of one request."""

    def __init__(self, embedder: Embedder, evidence: Evidence) -> None:
        self._embedder = embedder
        self._terms = TermFinder(embedder)
        self._evidence = evidence

    def find_values(self, field: Field) -> list[str]:
        """What the request names for a list of texts: terms of the field's kind, values that one of its words means."""
        items = resolve(field.schema.get("items", {}), field.root)
        if field.record is not None or items.get("type") != "string":
            return []
        if "enum" not in items:
            kind = self._terms.name_kind(humanize(field.name))
            return [term.text for term in self._find_terms() if term.kind == kind]
        words = [word for word in list_words(self._evidence.subject) if word not in SMALL_WORDS]
        named = self._embedder.similarities([humanize(str(value)) for value in items["enum"]], words)
        return [value for value, row in zip(items["enum"], named, strict=True) if max(row, default=0.0) >= SAME_WORD]

    def _find_terms(self) -> list[Term]:
        return self._terms.find(self._evidence.subject)

    def find_conditions(self, field: Field) -> list[dict[str, Any]]:
        """Records of what a value is about and the values, one for each term of the request that an enum has a value
        for; other enums take their first value."""
        items = resolve(field.schema.get("items", {}), field.root)
        inner = {name: field.inner(name, schema) for name, schema in items.get("properties", {}).items()}
        enums = {name: part.schema["enum"] for name, part in inner.items() if "enum" in part.schema}
        lists = [name for name, part in inner.items() if part.schema.get("type") == "array"]
        if field.record is not None or len(lists) != 1 or len(enums) + 1 < len(inner):
            return []
        kinds = {name: {self._terms.name_kind(humanize(value)): value for value in enums[name]} for name in enums}
        about = next((name for name in kinds if set(kinds[name]) - {None}), None)
        if about is None:
            return []
        first = {name: values[0] for name, values in enums.items()}
        terms = [term for term in self._find_terms() if term.kind in kinds[about]]
        return [{**first, about: kinds[about][term.kind], lists[0]: [term.text]} for term in terms]
