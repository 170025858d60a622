"""What a cold start loads: nothing that the function does not need, and nothing that its layers do not have."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions

import pytest

from local.packaging.requirements import LAYERS_BELOW, PROVIDED_BY_RUNTIME, ROOT, select_pins
from tests.support.template import read_source

GRAPH = {"langgraph", "langchain", "langchain_core", "langchain_openai", "langsmith", "openai", "tiktoken"}
MIGRATION = {"alembic", "sqlalchemy", "mako"}
HTTP = {"fastapi", "starlette", "mangum", "uvicorn", "eld"}
# Clients are made where they are first used; the SDK's import alone is 150 ms.
SDK = {"boto3", "s3transfer"}
FORBIDDEN = {
    "ApiFunction": GRAPH | MIGRATION | SDK | {"pypdf", "mammoth", "charset_normalizer"},
    "StreamFunction": GRAPH | MIGRATION | SDK | {"mangum", "mcp", "mcp_types", "httpx2"},
    "RationaleFunction": GRAPH | MIGRATION | SDK,
    "GateFunction": {"openai", "langchain_openai", "langchain", "tiktoken", "langfuse"} | MIGRATION | HTTP | SDK,
    "MemoryFunction": {"openai", "langchain_openai", "langchain", "tiktoken", "langfuse"} | MIGRATION | HTTP | SDK,
    "TurnFailedFunction": GRAPH | MIGRATION | HTTP | SDK,
    "SweepFunction": GRAPH | MIGRATION | HTTP | SDK,
    "RefreshDueFunction": GRAPH | MIGRATION | HTTP | SDK,
    "RefreshSourceFunction": {"openai", "langchain_openai", "langchain", "langgraph", "langfuse", "pypdf"}
    | MIGRATION
    | HTTP
    | SDK,
    "MigrateFunction": GRAPH | MIGRATION | HTTP | SDK,
}
# Imports a module with other distributions hidden, as if only the layers were there.
IMPORT_WITHOUT = """
import json, sys

module, hidden = sys.argv[1], set(sys.argv[2].split(","))

class OnlyLayers:
    def find_spec(self, name, path=None, target=None):
        if name in hidden:
            raise ModuleNotFoundError(f"no layer of this function has {name}", name=name)
        return None

sys.meta_path.insert(0, OnlyLayers())
__import__(module)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.parametrize("function", FORBIDDEN)
def test_cold_start_loads_no_more_than_it_needs_and_no_more_than_the_layers_have(function: str) -> None:
    loaded = import_handler(function)
    assert not loaded & FORBIDDEN[function]


def test_mcp_is_loaded_late_from_the_layers_of_the_stream() -> None:
    loaded = load("oria_runtime.http.mcp.server", "StreamFunction")
    assert "mcp" in loaded
    assert not loaded & (GRAPH | MIGRATION | SDK | {"mangum"})


@pytest.mark.parametrize("function", ["ApiFunction", "StreamFunction", "TurnFailedFunction", "SweepFunction"])
def test_the_registry_of_assistants_needs_no_graph_library(function: str) -> None:
    loaded = load("graph.registry", function)
    assert not loaded & GRAPH


@pytest.mark.parametrize("graph", ["graph.oria.graph", "graph.simulation.graph"])
def test_a_gate_that_loads_a_graph_loads_no_agents_and_no_model_client(graph: str) -> None:
    loaded = load(graph, "GateFunction")
    assert not loaded & (FORBIDDEN["GateFunction"] | {"emoji"})


def import_handler(function: str) -> set[str]:
    handler = read_source()["Resources"][function]["Properties"]["Handler"]
    module = "functions.stream.app" if handler.endswith(".sh") else handler.rpartition(".")[0]
    return load(module, function)


def load(module: str, function: str) -> set[str]:
    """Top-level names that are loaded after importing a module with the function's layers only."""
    command = [sys.executable, "-c", IMPORT_WITHOUT, module, ",".join(sorted(packages_outside(function)))]
    # LAMBDA_TASK_ROOT: Powertools loads more where it takes itself to be on Lambda.
    environ = {"PYTHONPATH": f"{ROOT}:{ROOT / 'layers' / 'runtime'}", "LAMBDA_TASK_ROOT": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def packages_outside(function: str) -> Iterator[str]:
    """Top-level packages that are installed here, but neither in a function's layers nor in the managed runtime."""
    distributions = set(PROVIDED_BY_RUNTIME)
    for layer in layers_of(function):
        distributions |= {pin.name for pin in select_pins(layer)}
    for package, providers in packages_distributions().items():
        if not {re.sub(r"[-_.]+", "-", provider).lower() for provider in providers} & distributions:
            yield package


def layers_of(function: str) -> Iterator[str]:
    """The dependency layers that template.yaml always gives a function; optional ones (`!If`) do not count."""
    source = read_source()
    own = source["Resources"][function]["Properties"].get("Layers", [])
    for reference in [*source["Globals"]["Function"]["Layers"], *own]:
        name = reference.get("Ref", "").removesuffix("Layer").lower()
        if name in LAYERS_BELOW:
            yield name
