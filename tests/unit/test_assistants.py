"""docs/assistants.md and docs/rules-of-*.md name every part of the code, its file and its tests, or say why not."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from graph import policy
from graph.oria.agents import KNOWLEDGE_BASE, SPECIALISTS
from graph.oria.agents.knowledge_base.loop import build_tools
from graph.oria.agents.specialist_run import AgentRequest
from graph.oria.tools.request_clarification_tool import NAME as CLARIFICATION
from graph.registry import ASSISTANTS
from oria_runtime.models.embeddings import LABEL as EMBEDDINGS

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
# Where a path of the tables may begin.
ROOTS = (ROOT, ROOT / "layers" / "runtime")
REFERENCE = re.compile(r"`([\w/]+\.py)::(\w+)`")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w./-]+\.(?:py|md|sql|yaml|sh)")
LIMIT = re.compile(r"([A-Z][A-Z_]+) = (.+)")
# What a row without a test may give instead. The last two need a test all the same.
REASONS = ("by construction: ", "chosen: ", "overridden: ", "prompt: ")
# The sections of seeds/oria_orchestration.md.
SECTIONS = [
    "Main graph",
    "Pre-supervisor decisions",
    "Career Chat and Knowledge Base",
    "Supervisor and handoffs",
    "Specialist subgraphs, inside a specialist node",
    "Tenant-dependent availability",
    "State, persistence and request context",
    "Search result identity",
    "Specialist call limits",
    "Recoverable tool failures",
    "Conversation size management",
    "Long-term memory decisions",
    "Prompt, model and observability profiles",
    "Execution budgets and error ownership",
    "Generic user interruptions",
]
LABEL = re.compile(r"(?:\w+_)?LABEL")
TOOL_ERRORS = {"display_user_profile_tool", "task_helper_tool", "get_objective_tool"}


class Row(NamedTuple):
    """A row of a table: its section, its cells, and the two last of them, which every table has."""

    section: str
    cells: Sequence[str]

    @property
    def files(self) -> list[str]:
        return CODE.findall(self.cells[-2])

    @property
    def proof(self) -> str:
        return self.cells[-1]

    @property
    def tests(self) -> list[tuple[str, str]]:
        return REFERENCE.findall(self.proof)


def read_rows(name: str) -> Iterator[Row]:
    """The rows of a document, without the heads of its tables."""
    section, head = "", True
    for line in (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        if not line.startswith("|"):
            head = True
        elif head:
            head = not line.startswith("|---")
        else:
            yield Row(section, [cell.strip() for cell in line.strip("| ").replace(" ||", " | |").split(" |")])


PARTS = list(read_rows("assistants.md"))
RULES = [*read_rows("rules-of-tools.md"), *read_rows("rules-of-orchestration.md")]


def find_rows(section: str) -> list[Row]:
    rows = [row for row in PARTS if row.section == section]
    assert rows, section
    return rows


@pytest.mark.parametrize("row", [*PARTS, *RULES], ids=lambda row: f"{row.section}: {row.cells[0]}"[:70])
def test_a_row_has_existing_files_and_tests_or_a_reason(row: Row) -> None:
    assert row.files or row.proof.startswith("overridden: "), "no file"
    for file in row.files:
        assert FILE.fullmatch(file), f"{file} is no file"
        assert any((root / file).is_file() for root in ROOTS), f"{file} does not exist"
    reason = next((reason for reason in REASONS if row.proof.startswith(reason)), None)
    assert row.tests or reason, "neither a test nor a reason"
    for path, name in row.tests:
        assert name in list_tests(TESTS / path), f"{path}::{name} does not exist"
    if reason == "prompt: ":
        assert any(file.endswith(".md") for file in row.files), "no prompt"
        assert any(takes_snapshot(TESTS / path, name) for path, name in row.tests), "no reviewed request"
    elif reason == "overridden: ":
        assert "DESIGN" in row.proof


def test_nothing_else_in_a_proof_looks_like_a_test() -> None:
    """A mistyped reference would otherwise count as words."""
    assert not [row for row in [*PARTS, *RULES] if "::" in REFERENCE.sub("", row.proof)]


def test_agents_are_those_of_the_table() -> None:
    rows = {unquote(row.cells[0]): row for row in find_rows("Agents")}
    assert {agent: (unquote(row.cells[1]), row.cells[2]) for agent, row in rows.items()} == {
        agent.id: (agent.node, agent.profile) for agent in (*SPECIALISTS.values(), KNOWLEDGE_BASE)
    }


def test_every_tool_is_in_its_table_with_its_agents() -> None:
    rows = {unquote(row.cells[0]): row for row in find_rows("Tools")}
    registered = discover_tools()
    assert set(rows) == {*registered, CLARIFICATION}
    for tool, agents in registered.items():
        row = rows[tool]
        assert set(CODE.findall(row.cells[1])) == agents, tool
        pausing = {agent for agent in agents & set(SPECIALISTS) if tool in SPECIALISTS[agent].define().interrupting}
        assert pausing == (agents if row.cells[2] == "yes" else set()), tool
        assert (row.cells[3] == "agent") == (tool in TOOL_ERRORS), tool


def test_exactly_three_tools_end_their_errors_at_their_agent() -> None:
    """Wherever an agent has one of them, and nowhere else (seeds/oria_orchestration.md, Recoverable tool failures)."""
    registered = discover_tools()
    for agent in SPECIALISTS:
        own = {tool for tool, agents in registered.items() if agent in agents}
        assert set(SPECIALISTS[agent].define().errors) == own & TOOL_ERRORS, agent
    assert set(registered) >= TOOL_ERRORS


def test_every_node_is_in_a_table() -> None:
    named = {unquote(row.cells[1]) for row in find_rows("Agents")}
    for row in find_rows("Nodes"):
        node, assistant, stage = unquote(row.cells[0]), ASSISTANTS[unquote(row.cells[1])], row.cells[2]
        assert assistant.stage_of(node) == stage
        named.add(node)
    assert named == {node for assistant in ASSISTANTS.values() for stage in assistant.stages for node in stage.nodes}


def test_every_middleware_is_in_the_table() -> None:
    assert {unquote(row.cells[0]) for row in find_rows("Middleware")} == set(discover_middleware())


def test_every_task_label_is_in_the_table() -> None:
    named = [label for row in find_rows("Task labels") for label in CODE.findall(row.cells[0])]
    assert sorted(named) == sorted(
        {*discover_labels(), *(agent.label for agent in (*SPECIALISTS.values(), KNOWLEDGE_BASE))}
    )


def test_every_limit_is_in_the_table_with_its_value() -> None:
    written = [LIMIT.fullmatch(code) for row in find_rows("Limits") for code in CODE.findall(row.cells[0])]
    assert all(written)
    named = [(match[1], ast.literal_eval(match[2])) for match in written if match]
    assert len(named) == len(dict(named))
    assert dict(named) == {name: value for name, value in vars(policy).items() if name.isupper()}


def test_every_tool_and_every_section_of_the_sources_has_rules() -> None:
    sections = [*dict.fromkeys(row.section for row in RULES)]
    ruled = {tool for section in sections for tool in CODE.findall(section)}
    assert ruled == {*discover_tools(), CLARIFICATION}
    assert sections[-len(SECTIONS) :] == SECTIONS


def unquote(cell: str) -> str:
    return cell.strip("`")


@cache
def discover_tools() -> dict[str, set[str]]:
    """The agents of each business tool. Tools are only named here, so that their request needs no context."""
    found: dict[str, set[str]] = {}
    for agent, specialist in SPECIALISTS.items():
        for tool in specialist.define().build_tools(AgentRequest(cast("Any", None), None)):
            found.setdefault(tool.name, set()).add(agent)
    return found | {tool.name: {KNOWLEDGE_BASE.id} for tool in build_tools(cast("Any", None))}


def discover_middleware() -> Iterator[str]:
    """Our own middleware classes, and LangChain's that our modules import."""
    for tree in parse_graph():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any("AgentMiddleware" in ast.unparse(base) for base in node.bases):
                yield node.name
            elif isinstance(node, ast.ImportFrom) and node.module == "langchain.agents.middleware":
                names = [alias.name for alias in node.names]
                yield from (name for name in names if name.endswith("Middleware") and name != "AgentMiddleware")


def discover_labels() -> Iterator[str]:
    """The constants that name tasks; those of the profile analysis name them below its own prefix."""
    yield EMBEDDINGS
    for tree in parse_graph():
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                if LABEL.fullmatch(target.id):
                    yield value.value
                elif target.id == "TASK":
                    yield f"profile_analysis.{value.value}"


@cache
def parse_graph() -> list[ast.Module]:
    return [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "graph").rglob("*.py"))]


@cache
def parse_tests(path: Path) -> dict[str, ast.AST]:
    """The test functions of a file by name."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    return {node.name: node for node in tree.body if isinstance(node, functions) and node.name.startswith("test_")}


def list_tests(path: Path) -> set[str]:
    return set(parse_tests(path))


def takes_snapshot(path: Path, name: str) -> bool:
    return "assert_snapshot" in ast.unparse(parse_tests(path)[name])
