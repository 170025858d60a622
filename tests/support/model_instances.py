"""The least instance of a JSON schema: what a scripted model gives when a test does not care."""

from collections.abc import Mapping
from typing import Any


def build_instance(schema: Mapping[str, Any], *, choice: Any = None, root: Mapping[str, Any] | None = None) -> Any:
    """The least instance; `choice` is the value of every enum, offered or not."""
    root = root or schema
    if "$ref" in schema:
        return build_instance(resolve(schema["$ref"], root), choice=choice, root=root)
    if "enum" in schema:
        return pick(schema["enum"]) if choice is None else choice
    if "const" in schema:
        return schema["const"]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kinds = [branch.get("type") for branch in schema[key]]
            return None if "null" in kinds else build_instance(schema[key][0], choice=choice, root=root)
    if "allOf" in schema:
        return build_instance(schema["allOf"][0], choice=choice, root=root)
    return build_typed(schema, choice, root)


def build_typed(schema: Mapping[str, Any], choice: Any, root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return None if "null" in kind else build_typed({**schema, "type": kind[0]}, choice, root)
    if kind == "object":
        wanted = schema.get("required", [])
        return {name: build_instance(schema["properties"][name], choice=choice, root=root) for name in wanted}
    if kind == "array":
        count = schema.get("minItems", 0)
        return [build_instance(schema["items"], choice=choice, root=root) for _ in range(count)]
    return {"string": "scripted", "boolean": False, "null": None}.get(kind, schema.get("minimum", 0))


def resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a local reference names."""
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def pick(values: list[Any]) -> Any:
    return "allow" if "allow" in values else values[0]
