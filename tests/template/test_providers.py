"""The table of model providers in docs/architecture.md against the code and template.yaml."""

import re

import pytest

from local.packaging.requirements import ROOT
from oria_runtime.models.providers import ADDRESSES, KEYS
from oria_runtime.secrets import SECRETS
from tests.support.template import Stack

ROW = re.compile(
    r"^\| `(?P<provider>\w+)` \| `(?P<key>\w+)` \| `(?P<secret>\w+)` \| (?P<address>[^|]+) \|", re.MULTILINE
)
CALLERS = ["GateFunction", "SupervisorFunction", "SpecialistFunction", "KnowledgeFunction", "MemoryFunction"]


def rows() -> dict[str, re.Match[str]]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {row["provider"]: row for row in ROW.finditer(text)}


def test_the_table_names_every_provider_with_its_variables() -> None:
    table = rows()
    assert set(table) == set(KEYS) == set(ADDRESSES)
    for provider, key in KEYS.items():
        row = table[provider]
        assert row["key"] == key
        assert SECRETS[row["secret"]] == key
        assert f"`{ADDRESSES[provider][0]}`" in row["address"]


@pytest.mark.parametrize("name", CALLERS)
def test_every_function_that_calls_models_may_be_given_every_provider(stack: Stack, name: str) -> None:
    variables = set(stack.functions[name]["Environment"]["Variables"])
    assert {row["secret"] for row in rows().values()} <= variables
    assert {"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION", "COMPATIBLE_BASE_URL"} <= variables


@pytest.mark.parametrize("name", CALLERS)
def test_a_provider_that_is_off_leaves_nothing_behind(stack: Stack, name: str) -> None:
    variables = stack.functions[name]["Environment"]["Variables"]
    for row in rows().values():
        assert variables[row["secret"]]["Fn::If"][2] == {"Ref": "AWS::NoValue"}
    assert "AnthropicLayer" in stack.layers(name)
