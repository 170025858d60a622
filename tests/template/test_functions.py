"""Every function of the template: its numbers, its files, its variables, its log group."""

import ast
from pathlib import Path
from typing import Any

import pytest

from graph import policy
from graph.registry import ASSISTANTS
from local.packaging.requirements import LAYERS_BELOW, ROOT
from tests.support.template import Stack, read_source

# Seconds. Where a number is not the graph's, it is DESIGN §3's.
TIMEOUTS = {
    "ApiFunction": 29,
    "StreamFunction": 900,
    "RationaleFunction": 29,
    "GateFunction": policy.GATE_SECONDS,
    "SupervisorFunction": policy.SUPERVISOR_SECONDS,
    "SpecialistFunction": policy.SPECIALIST_SECONDS,
    "KnowledgeFunction": policy.KNOWLEDGE_SECONDS,
    "MemoryFunction": policy.MEMORY_SECONDS,
    "TurnFailedFunction": 30,
    "SweepFunction": 60,
    "RefreshDueFunction": 60,
    "RefreshSourceFunction": 300,
    "MigrateFunction": 300,
}
RESERVED = {
    "StreamFunction": "StreamConcurrency",
    "GateFunction": "GateConcurrency",
    "SupervisorFunction": "SupervisorConcurrency",
    "SpecialistFunction": "SpecialistConcurrency",
    "KnowledgeFunction": "KnowledgeConcurrency",
    "MemoryFunction": "MemoryConcurrency",
}
# Variables that not we read but the libraries, the runtime and its extensions; STAGE tells an operator which is which.
READ_BY_OTHERS = {
    "STAGE",
    "AWS_LAMBDA_EXEC_WRAPPER",
    "AWS_LWA_INVOKE_MODE",
    "AWS_LWA_PORT",
    "AWS_LWA_READINESS_CHECK_PROTOCOL",
    "AWS_LWA_REMOVE_BASE_PATH",
    "LANGFUSE_HOST",
    "LANGSMITH_PROJECT",
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
}
LAYERS_LIMIT = 5
FUNCTIONS = sorted(TIMEOUTS)


def test_functions_are_those_with_a_known_timeout(stack: Stack) -> None:
    assert {name: body["Timeout"] for name, body in stack.functions.items()} == TIMEOUTS


def test_stages_of_every_assistant_have_a_function_with_their_timeout(stack: Stack) -> None:
    deployed = {body["Environment"]["Variables"].get("STAGE"): body["Timeout"] for body in stack.functions.values()}
    for assistant in ASSISTANTS.values():
        assert {stage.name: deployed.get(stage.name) for stage in assistant.stages} == {
            stage.name: stage.timeout for stage in assistant.stages
        }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_runs_on_python313_x86_with_tracing(stack: Stack, name: str) -> None:
    body = stack.functions[name]
    assert (body["Runtime"], body["Architectures"]) == ("python3.13", ["x86_64"])
    assert body["TracingConfig"] == {"Mode": "Active"}


def test_concurrency_is_reserved_for_streams_and_stages_only(stack: Stack) -> None:
    reserved = {
        name: body["ReservedConcurrentExecutions"]["Ref"]
        for name, body in stack.functions.items()
        if "ReservedConcurrentExecutions" in body
    }
    assert reserved == RESERVED


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_writes_to_a_log_group_with_retention(stack: Stack, name: str) -> None:
    group = stack.functions[name]["LoggingConfig"]["LogGroup"]["Ref"]
    assert stack.of_type("AWS::Logs::LogGroup")[group]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_handler_is_a_file_of_the_function(name: str) -> None:
    properties = read_source()["Resources"][name]["Properties"]
    handler, folder = properties["Handler"], properties["CodeUri"].strip("/")
    path = ROOT / (handler if handler.endswith(".sh") else handler.rpartition(".")[0].replace(".", "/") + ".py")
    assert path.is_relative_to(ROOT / folder)
    assert path.is_file()
    # SAM only warns when it is missing, and then skips its pip step without a word.
    assert (ROOT / folder / "requirements.txt").is_file()


def test_stream_starts_by_an_executable_script(stack: Stack) -> None:
    script = ROOT / stack.functions["StreamFunction"]["Handler"]
    assert script.stat().st_mode & 0o111, "the Web Adapter executes it"
    assert b"\r" not in script.read_bytes()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_at_most_five_layers_in_order(stack: Stack, name: str) -> None:
    assert len(stack.functions[name]["Layers"]) <= LAYERS_LIMIT
    layers = [layer.removesuffix("Layer").lower() for layer in stack.layers(name)]
    assert layers[:3] == ["base", "runtime", "assistants"]
    for layer in set(layers) & set(LAYERS_BELOW):
        assert set(LAYERS_BELOW[layer]) <= set(layers), f"{layer} leaves out what these have"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_variables_are_read_by_somebody(stack: Stack, name: str) -> None:
    variables = set(stack.functions[name]["Environment"]["Variables"])
    assert variables <= names_in_code() | READ_BY_OTHERS


def test_every_function_has_the_variables_that_settings_require(stack: Stack) -> None:
    for name, body in stack.functions.items():
        assert "DATABASE_SECRET_ARN" in body["Environment"]["Variables"], name
    for name in ("ApiFunction", "StreamFunction", "RationaleFunction"):
        assert {"JWT_ISSUER", "JWT_AUDIENCE", "JWT_JWKS_URL"} <= set(variables_of(stack, name))


def test_names_are_scoped_by_the_stack(stack: Stack) -> None:
    fixed = [
        f"{name}.{key}"
        for name, body in stack.resources.items()
        for key, value in body.get("Properties", {}).items()
        if key in {"Name", "FunctionName", "LayerName", "LogGroupName", "TopicName", "QueueName", "RoleName"}
        and isinstance(value, str)
    ]
    assert fixed == [], "two stacks of one account would collide"


def variables_of(stack: Stack, name: str) -> dict[str, Any]:
    return dict(stack.functions[name]["Environment"]["Variables"])


def names_in_code() -> set[str]:
    """Every text constant of our code that could name a variable."""
    names: set[str] = set()
    for folder in ("layers/runtime/oria_runtime", "functions", "graph"):
        for path in (ROOT / folder).rglob("*.py"):
            names |= constants_of(path)
    return names


def constants_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and text.isupper()}
