"""Filling a JSON schema from a prompt, for structured answers and tool arguments: nothing is invented, all is copied,
counted or chosen.

A field is understood by its name and description: enums and booleans by similarity, numbers from the amounts in the
person's words, strings from what they asked, lists from the lists in the data. Required fields always get a value;
optional and nullable ones only when something fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from local.offline_model.choices import Chooser
from local.offline_model.citing import Citer
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence, list_strings
from local.offline_model.names import CODES_FIELD, FILE_FIELD, ID_FIELD, find_codes
from local.offline_model.phrases import ABOUT_MORE, Language, asks_more
from local.offline_model.said import FITTING, SaidValues
from local.offline_model.schema_fields import (
    Field,
    Schema,
    copy_value,
    describe_values,
    humanize,
    is_record_list,
    resolve,
    walk_lists,
)
from local.offline_model.statements import is_kept_list, revise
from local.offline_model.values import NamedValues

LIST_FITTING = 0.3
AFFIRMED = 0.75
ITEMS = 3


class Filler:
    """Fills schemas from evidence. The system text `instructions` may describe enum values.

    `eager` puts the request into a required list of texts that the data has nothing for, as a tool's arguments want.
    """

    def __init__(
        self,
        embedder: Embedder,
        chooser: Chooser,
        evidence: Evidence,
        language: Language,
        *,
        instructions: str = "",
        eager: bool = False,
    ) -> None:
        self._embedder = embedder
        self._named = NamedValues(embedder, evidence)
        self._said = SaidValues(chooser, evidence, language, instructions)
        self._citer = Citer(embedder, evidence, language)
        self._chooser = chooser
        self._evidence = evidence
        self._instructions = instructions
        self._eager = eager

    def lacks(self, schema: Schema) -> bool:
        """Whether nothing could be put into a required identifier, file name or list of records, or into any parameter
        of a schema that has lists only."""
        required = [Field(name, resolve(schema["properties"][name], schema), schema) for name in schema["required"]]
        whole = Field("", schema, schema)
        parts = [whole.inner(name, part) for name, part in schema["properties"].items()]
        lists = [part for part in parts if part.schema.get("type") == "array"]
        useless = bool(lists) and len(lists) == len(parts) and not any(self._fits_values(part) for part in lists)
        unknown = any(ID_FIELD.search(part.name) and not self._said.find_id(part) for part in required)
        unknown = unknown or any(FILE_FIELD.search(part.name) and not self._said.find_file() for part in required)
        return useless or unknown or any(is_record_list(part) and not self._find_list(part) for part in required)

    def fill(self, schema: Schema) -> Any:
        """The instance of a whole schema."""
        return self._fill(Field("", resolve(schema, schema), schema))

    def _fill(self, field: Field) -> Any:
        copied = copy_value(field)
        if copied is not None:
            return copied
        schema = field.schema
        if "enum" in schema or "const" in schema:
            return self._choose(field)
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches:
            return self._fill_branch(field, branches)
        kinds = schema.get("type", "object")
        nullable = isinstance(kinds, list) and "null" in kinds
        kind = next(kind for kind in kinds if kind != "null") if isinstance(kinds, list) else kinds
        if nullable and not self._fits(replace(field, schema={**schema, "type": kind})):
            return None
        return self._fill_kind(field, kind)

    def _fill_kind(self, field: Field, kind: str) -> Any:
        match kind:
            case "object":
                return self._fill_object(field)
            case "array":
                return self._fill_array(field)
            case "boolean":
                return self._affirms(field)
            case "integer" | "number":
                return self._said.count(field, kind)
            case "null":
                return None
        return self._said.write(field)

    def _fill_branch(self, field: Field, branches: Sequence[Schema]) -> Any:
        filled = [field.inner(field.name, {"description": field.schema.get("description", ""), **b}) for b in branches]
        real = [branch for branch in filled if branch.schema.get("type") != "null"]
        branch = replace(real[0], record=field.record)
        if len(real) < len(filled) and not self._fits(branch):
            return None
        return self._fill(branch)

    def _fill_object(self, field: Field) -> dict[str, Any]:
        cited = self._citer.fill(field)
        if cited is not None:
            return cited
        properties = field.schema.get("properties", {})
        required = set(field.schema.get("required", ()))
        inner = {name: field.inner(name, schema, field.record) for name, schema in properties.items()}
        chosen = {name: part for name, part in inner.items() if name in required or self._fits(part)}
        filled = {name: self._fill(part) for name, part in chosen.items()}
        return self._select_one(inner, filled)

    def _select_one(self, inner: Mapping[str, Field], filled: dict[str, Any]) -> dict[str, Any]:
        """An object of nothing but switches means a selection: the closest one is on when none is."""
        switches = [name for name, part in inner.items() if part.schema.get("type") == "boolean"]
        if len(switches) < 2 or len(switches) < len(inner) or any(filled.values()):
            return filled
        asked = self._evidence.request
        best = max(switches, key=lambda name: self._chooser.measure(asked, inner[name].hint, 1))
        return {**filled, best: True}

    def _choose(self, field: Field) -> Any:
        values = field.schema.get("enum") or [field.schema["const"]]
        described = describe_values(values, field.schema.get("description", ""), self._instructions)
        evidence = self._evidence
        if field.record is not None:
            evidence = Evidence(" ".join(list_strings(field.record)))
        if field.record is not None and not self._is_close(evidence, described):
            return values[0]
        weights = self._chooser.weigh(evidence, described, self._instructions)
        chosen = max(weights, key=lambda value: weights[value])
        return next(value for value in values if str(value) == str(chosen))

    def _is_close(self, evidence: Evidence, described: Mapping[Any, str]) -> bool:
        return any(score >= FITTING for score in self._chooser.score(evidence, described).values())

    def _affirms(self, field: Field) -> bool:
        if ABOUT_MORE.search(field.name):
            return asks_more(self._evidence.latest)
        return self._chooser.affirm(Evidence(self._evidence.request), field.hint) >= AFFIRMED

    def _fits(self, field: Field) -> bool:
        """Whether an optional field has something to hold."""
        if copy_value(field) is not None:
            return True
        branches = field.schema.get("anyOf") or field.schema.get("oneOf")
        if branches:
            described = {"description": field.schema.get("description", "")}
            real = [branch for branch in branches if branch.get("type") != "null"]
            return any(self._fits(field.inner(field.name, {**described, **branch}, field.record)) for branch in real)
        return self._fits_kind(field)

    def _fits_kind(self, field: Field) -> bool:
        latest = self._evidence.latest
        if "enum" in field.schema:
            return self._chooser.measure(latest, " ".join(map(str, field.schema["enum"])), 1) >= FITTING
        match field.schema.get("type"):
            case "integer" | "number":
                return self._said.find_number(field) is not None
            case "boolean":
                return self._affirms(field)
            case "array" | "object":
                return self._fits_values(field)
            case "string":
                return self._said.fits_text(field)
        return False

    def _fits_values(self, field: Field) -> bool:
        """Whether the data or the request has something for a list, or for a list in a record."""
        if field.schema.get("type") == "array":
            return bool(self._find_list(field) or self._named.find_values(field) or self._named.find_conditions(field))
        parts = field.schema.get("properties", {}).items()
        return any(bool(self._named.find_conditions(field.inner(name, schema))) for name, schema in parts)

    def _fill_array(self, field: Field) -> list[Any]:
        items = resolve(field.schema.get("items", {"type": "string"}), field.root)
        low, high = field.schema.get("minItems", 0), field.schema.get("maxItems", 50)
        found = self._find_list(field)
        if items.get("type") == "string" and "enum" not in items:
            return self._fill_texts(field, found, low)[:high]
        if not found and (values := self._named.find_values(field) or self._named.find_conditions(field)):
            return values[:high]
        records = (found or [None] * low)[: min(high, max(low, ITEMS if "maxItems" in field.schema else len(found)))]
        count = max(1, len(records))
        return [self._fill(Field(field.name, items, field.root, record, count)) for record in records]

    def _fill_texts(self, field: Field, found: Sequence[Any], low: int) -> list[str]:
        """A list of texts: the one of that name kept up to date with what the person says, or copied."""
        kept = [text for record in found for text in list(list_strings(record))[:1]]
        if is_kept_list(field, self._evidence.data):
            return revise(kept, self._evidence.latest, self._embedder)
        return kept or self._named.find_values(field) or [self._evidence.request] * max(low, int(self._eager))

    def _find_list(self, field: Field) -> list[Any]:
        """The list in the data whose key is closest to the field's name; a record has its own lists or none."""
        if CODES_FIELD.search(field.name) and (codes := find_codes(field.name, self._evidence.results)):
            return codes
        lists = {key: value for key, value in walk_lists(self._evidence.data) if value}
        if not lists or field.record is not None:
            return []
        names = [humanize(key) for key in lists]
        scores = self._embedder.similarities([humanize(field.name), field.hint], names).max(axis=0)
        best = int(np.argmax(scores))
        only = len(lists) == 1 and field.schema.get("minItems", 0) > 0
        return list(list(lists.values())[best]) if scores[best] >= LIST_FITTING or only else []
