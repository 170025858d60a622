"""A turn with `agent` set: the same graph past the supervisor, behind the same gate, with fewer tools over MCP."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from graph.oria.agents import KNOWLEDGE_BASE, SPECIALISTS
from graph.oria.channel_tools import MCP_TOOLS
from oria_runtime.turns.channels import CHANNEL, MCP
from oria_runtime.turns.preferences import read_preferences
from tests.support.engine import USER
from tests.support.oria_engine import CAREER_CHAT, GATE, SUPERVISOR, OriaEngine
from tests.support.scripted_model import choose, give, say

OVER_MCP: Final[Mapping[str, Any]] = {"interactions": False, "request": {CHANNEL: MCP}}
DECISION, GENERATION = "langgraph.memory_update_decision", "langgraph.memory_update_generation"


@pytest.mark.parametrize("options", [{}, OVER_MCP], ids=["api", "mcp"])
async def test_gate_and_memory_run_for_a_named_agent(oria: OriaEngine, options: Mapping[str, Any]) -> None:
    oria.script.on(label=CAREER_CHAT).reply(say("Directly."))
    oria.script.on(label=DECISION).reply(choose("update"))
    oria.script.on(label=GENERATION).reply(give({"preferences": ["Prefers short answers"]}))
    turn = await oria.run("I prefer short answers", agent="career_chat", **options)
    assert (turn.status, turn.agent) == ("completed", "career_chat")
    assert (oria.script.count(label=GATE), oria.script.count(label=SUPERVISOR)) == (1, 0)
    stored = await read_preferences(oria.database, USER)
    assert [item.startswith("Prefers short answers") for item in stored.items] == [True]


@pytest.mark.parametrize("options", [{}, OVER_MCP], ids=["api", "mcp"])
@pytest.mark.parametrize("decision", ["block", "doubt"])
async def test_a_refused_message_reaches_no_named_agent(
    oria: OriaEngine, decision: str, options: Mapping[str, Any]
) -> None:
    oria.script.on(label=GATE).reply(choose(decision))
    turn = await oria.run("Something", agent="career_chat", **options)
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["decision"]) == ("blocked", decision)
    assert (oria.script.count(label=CAREER_CHAT), oria.script.count(label=DECISION)) == (0, 0)


def test_every_specialist_has_its_tools_over_mcp() -> None:
    assert set(MCP_TOOLS) == {*SPECIALISTS, KNOWLEDGE_BASE.id}
    assert all(MCP_TOOLS.values())


async def test_mcp_leaves_an_agent_fewer_tools(oria: OriaEngine) -> None:
    await oria.add_person()
    for agent in SPECIALISTS:
        allowed = MCP_TOOLS[agent]
        everywhere = await offer_tools(oria, agent, interactions=False)
        assert everywhere & allowed, agent
        assert await offer_tools(oria, agent, **OVER_MCP) == everywhere & allowed, agent


async def test_what_a_tenant_excludes_is_not_back_over_mcp(oria: OriaEngine) -> None:
    await oria.configure({"chatbot": {"agents": {"task_helper": {"tool_exclusion": ["task_helper_tool"]}}}})
    assert await offer_tools(oria, "task_helper", interactions=False) == {"get_document_content_tool"}
    assert await offer_tools(oria, "task_helper", **OVER_MCP) == set()


async def test_exclusions_of_every_tool_are_ignored_over_mcp_too(oria: OriaEngine) -> None:
    tools = ["task_helper_tool", "get_document_content_tool"]
    await oria.configure({"chatbot": {"agents": {"task_helper": {"tool_exclusion": tools}}}})
    assert await offer_tools(oria, "task_helper", **OVER_MCP) == {"task_helper_tool"}


async def offer_tools(oria: OriaEngine, agent: str, **options: Any) -> set[str]:
    """The tools that the agent's model sees in a turn of it."""
    label = SPECIALISTS[agent].label
    before = oria.script.count(label=label)
    oria.script.on(label=label).reply(say("Here you are."))
    await oria.run("Hello", agent=agent, **options)
    return {name for seen in oria.script.seen(label=label)[before:] for name in seen.tools}


async def test_an_agent_that_may_not_pause_has_no_tool_to_ask(oria: OriaEngine) -> None:
    oria.script.on(label=CAREER_CHAT).reply(say("Here you are."))
    await oria.run("Hello", agent="career_chat", **OVER_MCP)
    assert "request_clarification_tool" not in oria.script.seen(label=CAREER_CHAT)[-1].text
