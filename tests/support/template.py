"""template.yaml as SAM's own translator expands it, and as it is written."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from local.cloud.intrinsics import load_template
from local.packaging.interpreters import SAM_FOLDER, MissingProgramError
from local.packaging.requirements import ROOT

TRANSLATE = Path(__file__).with_name("translate.py")
# samtranslator wants packaged code; what it would be called does not matter here.
PACKAGED = {"CodeUri": "s3://bucket/code", "ContentUri": "s3://bucket/layer"}


@dataclass(frozen=True)
class Target:
    """Who a rule, a schedule or a destination invokes: a function's logical id and the qualifier."""

    function: str
    qualifier: str = "$LATEST"


class Stack:
    """CloudFormation resources by logical id, and the look-ups that tests need."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.resources: Mapping[str, Any] = document["Resources"]

    def of_type(self, kind: str) -> dict[str, Any]:
        """Logical id to properties."""
        return {name: body.get("Properties", {}) for name, body in self.resources.items() if body["Type"] == kind}

    @cached_property
    def functions(self) -> dict[str, Any]:
        return self.of_type("AWS::Lambda::Function")

    def target(self, reference: Any) -> Target:
        """The function behind an ARN expression: `!GetAtt X.Arn`, `!Ref` of a function or of an alias."""
        if "Fn::GetAtt" in reference:
            return Target(reference["Fn::GetAtt"][0])
        name = reference["Ref"]
        if self.resources[name]["Type"] == "AWS::Lambda::Alias":
            alias = self.resources[name]["Properties"]
            return Target(alias["FunctionName"]["Ref"], alias["Name"])
        return Target(name)

    def invoke_config(self, target: Target) -> dict[str, Any]:
        """How asynchronous invocations of exactly that qualifier are handled; empty means Lambda's defaults."""
        for properties in self.of_type("AWS::Lambda::EventInvokeConfig").values():
            if properties["FunctionName"] == {"Ref": target.function} and properties["Qualifier"] == target.qualifier:
                return dict(properties)
        return {}

    def statements(self, function: str) -> Iterator[dict[str, Any]]:
        """The inline statements of a function's role."""
        role = self.resources[self.functions[function]["Role"]["Fn::GetAtt"][0]]["Properties"]
        for policy in role.get("Policies", []):
            content = policy.get("Fn::If", [None, policy])[1]
            yield from as_list(content["PolicyDocument"]["Statement"])

    def layers(self, function: str) -> list[str]:
        """Logical ids, as template.yaml names them, of a function's layers; the publisher's own is left out."""
        references = [layer.get("Fn::If", [None, layer])[1] for layer in self.functions[function].get("Layers", [])]
        return [self._layer_name(reference["Ref"]) for reference in references if "Ref" in reference]

    def _layer_name(self, logical_id: str) -> str:
        # SAM appends a hash of the content to a layer's logical id.
        return logical_id if logical_id.endswith("Layer") else logical_id[:-10]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_source() -> dict[str, Any]:
    """template.yaml with its intrinsic functions in long form."""
    return dict(load_template(ROOT / "template.yaml"))


def translate() -> Stack:
    """template.yaml expanded to CloudFormation by the translator that `sam deploy` uses."""
    document = json.loads(json.dumps(read_source()))
    for resource in document["Resources"].values():
        properties = resource.get("Properties", {})
        properties.update({name: uri for name, uri in PACKAGED.items() if name in properties})
    command = [str(require_sam("python")), str(TRANSLATE)]
    environ = {**os.environ, "AWS_DEFAULT_REGION": "eu-west-1"}
    done = subprocess.run(command, input=json.dumps(document), capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    return Stack(json.loads(done.stdout))


def require_sam(program: str = "sam") -> Path:
    """A program of SAM's environment. Without it a test skips, and fails where CI is set."""
    path = SAM_FOLDER / "bin" / program
    if not path.exists():
        refuse(f"{SAM_FOLDER.name} is missing; `make build` installs it")
    return path


def refuse(reason: str | MissingProgramError) -> None:
    """Skip, visibly; in CI everything must be there."""
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(str(reason))
    pytest.fail(str(reason))
