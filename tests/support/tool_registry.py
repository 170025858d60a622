"""Which tools the registry's agents have, and what their modules can do: read from the code, not from a list."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from langchain_core.tools import BaseTool

from graph.oria.agents import SPECIALISTS
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.tools.request_clarification_tool import build_clarification_tool

# The only way to pause a turn (oria_runtime/turns/questions.py).
PAUSING_MODULE = "oria_runtime.turns.questions"


def read_definition(agent: str) -> AgentDefinition:
    """An agent as its module defines it."""
    definition: AgentDefinition = import_module(f"graph.oria.agents.{agent}.agent").define()
    return definition


@cache
def discover_tools() -> Mapping[tuple[str, str], BaseTool]:
    """Every tool of every agent by the ids of both, with the one that all share in interactive requests."""
    found: dict[tuple[str, str], BaseTool] = {}
    for agent in SPECIALISTS:
        # What is built here is only described, never run, so that it needs no context.
        request = AgentRequest(cast("Any", None), None)
        tools = [*read_definition(agent).build_tools(request), build_clarification_tool()]
        found |= {(agent, tool.name): tool for tool in tools}
    return found


def list_business_tools(agent: str) -> list[str]:
    """The tools of an agent without the shared one."""
    shared = build_clarification_tool().name
    return [tool for owner, tool in discover_tools() if owner == agent and tool != shared]


def find_tool_module(tool: BaseTool) -> str:
    """The module that declares a tool."""
    function = getattr(tool, "coroutine", None) or getattr(tool, "func", None)
    return str(function.__module__)


def can_pause(module: str) -> bool:
    """Whether the modules that a tool's module imports, and those that they import, hold the call that pauses."""
    return PAUSING_MODULE in follow_imports(module)


@cache
def follow_imports(module: str) -> frozenset[str]:
    """The first-party modules that a module needs, itself included."""
    seen: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += list_imports(name)
    return frozenset(seen)


@cache
def list_imports(module: str) -> tuple[str, ...]:
    """The tools' and the engine's modules among a module's imports at its top."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return tuple(name for name in read_imports(tree) if name.startswith(("graph.oria.tools", "oria_runtime.turns")))


def read_imports(tree: ast.Module) -> Iterator[str]:
    """Names of modules, also where a module is imported from its package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                if find_module(f"{node.module}.{alias.name}"):
                    yield f"{node.module}.{alias.name}"


@cache
def find_module(name: str) -> bool:
    parent, _, child = name.rpartition(".")
    spec = find_spec(parent) if parent.startswith(("graph.oria", "oria_runtime")) else None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return any((Path(folder) / f"{child}.py").exists() for folder in folders)
