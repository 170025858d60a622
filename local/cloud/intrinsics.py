"""CloudFormation's short forms and intrinsic functions, resolved to plain values."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from local.cloud.resources import ACCOUNT, REGION

STACK = "oria"
PSEUDO_PARAMETERS: Mapping[str, Any] = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::StackName": STACK,
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{STACK}/local",
    "AWS::URLSuffix": "amazonaws.com",
}
VARIABLE = re.compile(r"\$\{(!?)([^}]+)\}")


class TemplateError(Exception):
    """The template uses something that the local cloud does not know, or names what does not exist."""


class _Absent:
    """AWS::NoValue: the property or list item is left out."""


ABSENT = _Absent()


class TemplateLoader(yaml.SafeLoader):
    """YAML with CloudFormation's tags; `!Sub x` becomes `{"Fn::Sub": "x"}`."""


def _construct(loader: TemplateLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        raise TemplateError(f"!{suffix} stands before something unknown")
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


TemplateLoader.add_multi_constructor("!", _construct)


def load_template(path: Path) -> dict[str, Any]:
    """The template as CloudFormation's JSON would have it."""
    # SafeLoader's own rules with tags added: nothing but plain values can come of it.
    loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=TemplateLoader)  # noqa: S506
    if not isinstance(loaded, dict):
        raise TemplateError(f"{path} is not a template")
    return loaded


@dataclass
class Resolver:
    """Resolves values of one template.

    `attributes` has what Ref (key `Name`) and GetAtt (key `Name.Attribute`) answer for resources.
    """

    parameters: Mapping[str, Any]
    conditions: Mapping[str, Any] = field(default_factory=dict)
    mappings: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def resolve(self, value: Any) -> Any:
        """A value with every intrinsic function replaced; absent properties and items are left out."""
        if isinstance(value, dict):
            if len(value) == 1 and (function := self._function(next(iter(value)))) is not None:
                return function(next(iter(value.values())))
            items = ((name, self.resolve(item)) for name, item in value.items())
            return {name: item for name, item in items if item is not ABSENT}
        if isinstance(value, list):
            return [item for item in map(self.resolve, value) if item is not ABSENT]
        return value

    def condition(self, name: str) -> bool:
        """A condition of the template. Raises TemplateError when there is none of that name."""
        if name not in self.conditions:
            raise TemplateError(f"no condition {name}")
        return bool(self.resolve(self.conditions[name]))

    def _function(self, name: str) -> Callable[[Any], Any] | None:
        functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self.condition,
            "Fn::GetAtt": self._get_attribute,
            "Fn::Sub": self._substitute,
            "Fn::If": lambda parts: self.resolve(parts[1] if self.condition(parts[0]) else parts[2]),
            "Fn::Equals": lambda parts: str(self.resolve(parts[0])) == str(self.resolve(parts[1])),
            "Fn::Not": lambda parts: not self.resolve(parts[0]),
            "Fn::And": lambda parts: all(self.resolve(part) for part in parts),
            "Fn::Or": lambda parts: any(self.resolve(part) for part in parts),
            "Fn::Join": self._join,
            "Fn::Select": lambda parts: self.resolve(parts[1])[int(self.resolve(parts[0]))],
            "Fn::Split": lambda parts: str(self.resolve(parts[1])).split(parts[0]),
            "Fn::FindInMap": self._find_in_map,
            "Fn::ImportValue": lambda name: self._ref(self.resolve(name)),
        }
        return functions.get(name)

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return ABSENT
        for values in (PSEUDO_PARAMETERS, self.parameters, self.attributes):
            if name in values:
                return values[name]
        raise TemplateError(f"no parameter, resource or import {name}")

    def _get_attribute(self, path: list[str]) -> Any:
        name = ".".join(path)
        if name not in self.attributes:
            raise TemplateError(f"no attribute {name}")
        return self.attributes[name]

    def _substitute(self, value: Any) -> str:
        text, variables = value if isinstance(value, list) else (value, {})

        def replace(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return "${" + name + "}"
            if name in variables:
                return str(self.resolve(variables[name]))
            return str(self._get_attribute(name.split(".")) if "." in name else self._ref(name))

        return VARIABLE.sub(replace, text)

    def _join(self, parts: list[Any]) -> str:
        items = self.resolve(parts[1])
        return str(parts[0]).join(map(str, items if isinstance(items, list) else str(items).split(",")))

    def _find_in_map(self, path: list[Any]) -> Any:
        value: Any = self.mappings
        for key in map(self.resolve, path):
            # YAML makes a number of a key such as 2; a parameter may have it as text, or the other way round.
            value = {str(name): item for name, item in value.items()}[str(key)]
        return value
