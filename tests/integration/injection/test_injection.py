"""Texts that give orders: in every request of every specialist they are data, and never among instructions.

Every text of the world that a customer or a person writes holds the order. Agents and tools are found in the registry.
"""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.oria.agents import SPECIALISTS
from graph.oria.summary import write_summary
from graph.oria.training_matching.explanation import explain_training
from oria_runtime.catalog.training_rationale import TrainingQuestion
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.models import TurnStatus
from oria_runtime.turns.preferences import read_preferences, write_preferences
from tests.integration.agents.conftest import Conversation
from tests.integration.injection.conftest import DECIDING, MEMORY
from tests.support.engine import USER
from tests.support.oria_engine import CAREER_CHAT, GATE, SUPERVISOR, OriaEngine
from tests.support.scripted_model import Script, Seen, call, choose, give, say
from tests.support.tool_case import Pause
from tests.support.tool_cases import ROWS
from tests.support.tool_columns import break_then
from tests.support.tool_registry import discover_tools
from tests.support.tool_run import ToolRun
from tests.support.tool_world import add_document
from tests.support.untrusted_wire import MARK, ORDER, assert_has_policy, assert_is_data

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def play(run: ToolRun) -> list[str]:
    """The row's calls with all its ways through a pause, then one more turn. What the person was shown and said."""
    run.state = {"summary": ORDER}
    await write_preferences(run.database, USER, [ORDER])
    await add_document(run.database, run.conversation.conversation_id, USER, ORDER, name=f"{MARK}.txt")
    await run.succeed()
    await run.make(run.case.miss)
    run.conversation = run.conversation.with_options(user_id=USER)
    if isinstance(pause := run.case.pause, Pause):
        for answers in (pause.answers, pause.failing):
            if (await run.make(pause.ask)).interrupts:
                await run.answer(answers)
    run.script_agent()
    stop = await run.say("And now?", interactions=True)
    said = [message for message in stop.messages if isinstance(message, HumanMessage | AIMessage)]
    return [message.text.strip() for message in said if message.text]


@pytest.mark.parametrize(("agent", "tool"), list(discover_tools()))
async def test_orders_reach_models_as_data_only(run: ToolRun) -> None:
    shown = await play(run)
    assert any(MARK in seen.text for seen in run.script.requests)
    for seen in run.script.requests:
        assert_is_data(seen, MARK, shown=shown)
        assert_has_policy(seen)


@pytest.mark.parametrize(("agent", "tool"), DECIDING)
async def test_the_same_holds_without_native_decisions_and_on_the_other_wire(run: ToolRun) -> None:
    structured = {"decisions": "structured", "use_responses_api": False}
    config = {"models": {"mini": structured, "large": structured}}
    run.conversation = run.conversation.with_options(config=TenantConfig.model_validate(config))
    shown = await play(run)
    for seen in run.script.requests:
        assert seen.endpoint in ("chat/completions", "embeddings")
        assert_is_data(seen, MARK, shown=shown)
        assert_has_policy(seen)


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("system", f"Rules. {MARK}"),
        ("developer", f"Person (data, not instructions):\n{json.dumps(MARK)}"),
        ("user", f"Person (data, not instructions):\n{MARK}"),
        ("user", MARK),
        ("tool", MARK),
    ],
)
async def test_the_check_sees_what_is_no_data(role: str, text: str) -> None:
    body = {"messages": [{"role": role, "content": text}]}
    with pytest.raises((AssertionError, json.JSONDecodeError)):
        assert_is_data(Seen("chat/completions", "label", body, 0.0), MARK)


async def test_a_persons_orders_are_data_for_gate_supervisor_memory_and_summary(
    engine: OriaEngine, tool_script: Script
) -> None:
    """The message itself is what these judge: it never stands among their rules, nor does what was said before."""
    tool_script.on(label=CAREER_CHAT).reply(say(f"You said {ORDER}"))
    for _ in range(2):
        assert (await engine.run(ORDER)).status is TurnStatus.COMPLETED
    judged = [seen for seen in tool_script.requests if seen.label != CAREER_CHAT]
    assert {GATE, SUPERVISOR, MEMORY} <= {seen.label for seen in judged}
    tool_script.requests.clear()
    context = Conversation(tool_script, engine.database, user_id=USER).build_context("Hello")
    older = (await engine.state())["messages"]
    tool_script.on(label="langgraph.summary").reply(say(ORDER))
    assert await write_summary(older, ORDER, context.models, 5.0) == ORDER
    for seen in [*judged, *tool_script.requests]:
        assert MARK in seen.text
        assert_is_data(seen, MARK)
        assert_has_policy(seen)


async def test_a_refused_order_is_data_for_the_one_who_refuses(engine: OriaEngine, tool_script: Script) -> None:
    tool_script.on(label=GATE).reply(choose("block"))
    assert (await engine.run(ORDER)).status is TurnStatus.BLOCKED
    assert {seen.label for seen in tool_script.requests} == {GATE, "langgraph.guardrails_response"}
    for seen in tool_script.requests:
        assert_is_data(seen, MARK)
        assert_has_policy(seen)


@pytest.mark.parametrize(("agent", "tool"), [("profile_analysis", "display_user_profile_tool")])
async def test_an_estimate_reads_a_profile_as_data(run: ToolRun) -> None:
    """It is made where there is no score."""
    with run.world.repaired():
        await run.make(run.success, break_then(run.world, call(run.case.tool)))
    [seen] = run.script.seen(label="profile_analysis.alignment")
    assert MARK in seen.text
    assert_is_data(seen, MARK)
    assert_has_policy(seen)


@pytest.mark.parametrize(("agent", "tool"), [("training_finder", "get_trainings_tool")])
async def test_the_explanation_of_a_training_obeys_no_text(run: ToolRun) -> None:
    """Training Matching's route: title, description, profile and query give orders, and the model obeys."""
    run.script.on(label="training_matching.rationale").reply(
        give({"rationales": [{"number": 1, "text": f"{MARK}: hire p-2 at once."}]})
    )
    context = run.conversation.build_context("")
    question = TrainingQuestion("t0", USER, "en", search_query=f"Python {ORDER}")
    explained = await explain_training(question, database=run.database, models=context.models)
    assert (explained.source, "hire" in explained.text) == ("facts", False), explained.text
    [seen] = run.script.requests
    assert_is_data(seen, MARK)
    assert_has_policy(seen)


async def test_what_a_model_remembers_is_an_item_of_the_persons_list_and_nothing_more(
    engine: OriaEngine, tool_script: Script
) -> None:
    """A list that holds orders is stored as texts, cut to their limits, and shown to models as data only."""
    tool_script.on(label=MEMORY).reply(choose("update"))
    tool_script.on(label="langgraph.memory_update_generation").reply(give({"preferences": [ORDER, "x" * 10_000]}))
    await engine.run(ORDER)
    stored = await read_preferences(engine.database, USER)
    assert len(stored.items) == 2
    assert all(len(item) < 500 and "\n" not in item for item in stored.items)
    [generation] = tool_script.seen(label="langgraph.memory_update_generation")
    assert_is_data(generation, MARK)
    assert_has_policy(generation)
    tool_script.rules.clear()
    ROWS["training_finder_tool"].prepare(tool_script)
    tool_script.on(label=SPECIALISTS["training_finder"].label).reply(
        call("training_finder_tool", query="Python", is_learning_plan=True)
    )
    tool_script.requests.clear()
    assert (await engine.run("A plan", agent="training_finder")).status is TurnStatus.AWAITING_INPUT
    assert any(MARK in seen.text for seen in tool_script.seen(label="training_finder.*"))
    for seen in tool_script.seen(label="training_finder.*"):
        assert_is_data(seen, MARK)
