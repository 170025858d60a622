"""Places in a JSON schema, and what the schema, the instructions and the data say about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
VALUE_LINE = re.compile(r"^[-*]?[ \t]*`?([\w -]+?)`?[ \t]*:[ \t]+(.+)$", re.MULTILINE)
VALUE_IN_BRACKETS = re.compile(r"`([\w-]+)`\s+\(([^)]+)\)")
SWITCH_VERB = re.compile(r"^(?:is|are|has|have|needs?|wants?|include)\s+")
TITLE_WORDS = 8


@dataclass(frozen=True)
class Field:
    """A place in a schema: name, schema with references resolved, and the record that it is filled from.

    `siblings` is how many records share the amounts that the person named.
    """

    name: str
    schema: Schema
    root: Schema
    record: Any = None
    siblings: int = 1

    @property
    def hint(self) -> str:
        """Name and description as words, without the verb that makes a name a switch."""
        name = SWITCH_VERB.sub("", humanize(self.name))
        return f"{name}. {self.schema.get('description') or ''}".strip(" .")

    def inner(self, name: str, schema: Schema, record: Any = None) -> "Field":
        return Field(name, resolve(schema, self.root), self.root, record, self.siblings)


def resolve(schema: Schema, root: Schema) -> Schema:
    """The schema with a local reference followed; its siblings (a description) stay."""
    while "$ref" in schema or len(schema.get("allOf", ())) == 1:
        target = schema["allOf"][0] if "$ref" not in schema else find_reference(schema["$ref"], root)
        rest = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
        schema = {**target, **rest}
    return schema


def is_record_list(field: Field) -> bool:
    """Whether a field is a list of objects, or of identifiers by its name."""
    items = resolve(field.schema.get("items", {}), field.root)
    return field.schema.get("type") == "array" and (
        items.get("type") == "object" or field.name.endswith(("_ids", "_codes"))
    )


def find_reference(reference: str, root: Schema) -> Schema:
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def copy_value(field: Field) -> Any:
    """The value that a record has under the field's name, if it is of the field's type."""
    if isinstance(field.record, str) and field.record in field.schema.get("enum", ()):
        return field.record
    if not isinstance(field.record, Mapping):
        return None
    value = field.record.get(field.name)
    own_id = field.record.get("id")
    if value is None and own_id is not None and field.name.endswith(("_id", "_ids")):
        value = own_id if field.name.endswith("_id") else [own_id]
    kinds = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}
    expected = kinds.get(str(field.schema.get("type")))
    allowed = field.schema.get("enum")
    fits = expected is not None and isinstance(value, expected) and (allowed is None or value in allowed)
    return value if fits else None


def explain(name: str, instructions: str) -> str:
    """What the instructions say that a name means: in a line `name: meaning`, or in brackets after it."""
    lines = dict(VALUE_LINE.findall(instructions)) | dict(VALUE_IN_BRACKETS.findall(instructions))
    return str(lines.get(name, name))


def describe_values(values: Sequence[Any], description: str, instructions: str) -> dict[Any, str]:
    """What each value of an enum means: from lines `value: meaning` in its description or the instructions."""
    text = f"{instructions}\n{description}"
    return {value: humanize(explain(str(value), text)) for value in values}


def walk_lists(data: Any) -> list[tuple[str, list[Any]]]:
    """All lists in the data by their key; lists of chat records are conversation, not data."""
    found: list[tuple[str, list[Any]]] = []
    if isinstance(data, Mapping):
        for key, value in data.items():
            if isinstance(value, list) and not any(isinstance(item, Mapping) and "role" in item for item in value):
                found.append((key, value))
            found.extend(walk_lists(value))
    return found


def drop_ids(record: Any) -> Any:
    """A record without its identifiers, which are nothing to say."""
    if not isinstance(record, Mapping):
        return record
    return {key: value for key, value in record.items() if key != "id" and not key.endswith(("_id", "_ids"))}


def make_title(text: str) -> str:
    """The first words of a text as a title."""
    title = " ".join(text.split()[:TITLE_WORDS]).strip(" .?!¿¡")
    return title[:1].upper() + title[1:]


def humanize(name: str) -> str:
    return name.replace("_", " ").strip()


def bound(text: str, schema: Schema) -> str:
    """The text within the schema's length."""
    return text[: schema.get("maxLength", len(text))]
