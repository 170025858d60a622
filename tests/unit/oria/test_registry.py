"""What the engine and the api learn about Oria without running it."""

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

from graph import policy
from graph.oria.agents import SPECIALISTS
from graph.registry import ASSISTANTS
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.models import Outcome

ROOT = Path(__file__).parents[3]
ORIA = ASSISTANTS["oria"]


def test_reading_the_registry_imports_no_langgraph() -> None:
    program = "import sys, graph.registry; print([m for m in sys.modules if m.startswith(('lang', 'openai'))])"
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'layers/runtime'}"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=paths)
    assert ran.stdout.strip() == "[]"


def test_every_node_of_the_graph_belongs_to_one_stage() -> None:
    nodes = set(ORIA.build().nodes)
    assert nodes == {node for stage in ORIA.stages for node in stage.nodes}
    assert sum(len(stage.nodes) for stage in ORIA.stages) == len(nodes)


def test_stages_have_the_seconds_of_the_policy() -> None:
    assert [(stage.name, stage.timeout, stage.budget) for stage in ORIA.stages] == [
        ("gate", policy.GATE_SECONDS, None),
        ("supervisor", policy.SUPERVISOR_SECONDS, None),
        ("specialist", policy.SPECIALIST_SECONDS, policy.SPECIALIST_BUDGET_SECONDS),
        ("knowledge", policy.KNOWLEDGE_SECONDS, policy.SPECIALIST_BUDGET_SECONDS),
    ]
    assert {stage.name: stage.recovery for stage in ORIA.stages if stage.recovery} == {"knowledge": "unavailable"}


def test_agents_are_those_that_the_tenant_enables() -> None:
    def list_ids(config: object) -> list[str]:
        return [agent.id for agent in ORIA.agents(TenantConfig.model_validate(config))]

    assert list_ids({}) == list(SPECIALISTS)
    assert list_ids({"chatbot": {"agents": {"training_finder": {}}}}) == ["training_finder"]
    assert list_ids({"chatbot": {"agents": {"career_chat": {"active": False}}}}) == []
    assert list_ids({"chatbot": {"agents": {}}}) == []


def test_knowledge_is_no_agent_that_anybody_can_pick() -> None:
    """Neither the supervisor nor a caller: it is behind Career Chat, also where a tenant's list names it."""
    configs: list[dict[str, object]] = [{}, {"chatbot": {"agents": {"career_chat": {}, "knowledge_base": {}}}}]
    for config in configs:
        assert "knowledge_base" not in [agent.id for agent in ORIA.agents(TenantConfig.model_validate(config))]


def test_an_outcome_survives_the_state() -> None:
    outcome = Outcome("boundary", "No.", decision="block", cards=[{"type": "note"}])
    read = ORIA.read_outcome({"outcome": outcome.as_json()})
    assert read is not None
    assert read.as_json() == outcome.as_json()
    assert ORIA.read_outcome({"outcome": None}) is None
    assert ORIA.read_outcome({}) is None


def test_the_agent_at_work_is_not_the_one_of_the_turn_before() -> None:
    assert ORIA.read_agent({"agent": None, "active_agent": "career_chat", "turn_id": str(uuid4())}) is None
    assert ORIA.read_agent({"agent": "training_finder"}) == "training_finder"
