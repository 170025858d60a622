"""Turns with research over the engine's stages: what each commits, what a killed one leaves, and what comes after."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import EventType, TurnStatus
from tests.integration.cases.test_direct_entry import OVER_MCP
from tests.support.engine import USER
from tests.support.knowledge import add_knowledge, add_source, serve_site, write_page
from tests.support.oria_engine import CAREER_CHAT, SUPERVISOR, OriaEngine
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import call, choose, give, hang, say
from tests.support.tool_run import assert_whole_pairs

TRANSFER = "transfer_to_knowledge_base"
KNOWLEDGE = "langgraph.knowledge_base_agent"
SYNTHESIS = "knowledge_base.synthesis"
QUESTION = "Is remote work allowed here?"
FACT = "Remote work is allowed here on three days a week."
SUPPORTED = {"status": "supported", "answer": "Three days a week.", "citations": ["e1"]}
MISS = {"status": "miss", "answer": "", "citations": []}
BACK = "Who could tell you?"


@pytest.fixture
async def asking(oria: OriaEngine) -> OriaEngine:
    """A tenant with knowledge, and a person whose question Career Chat hands over."""
    await add_knowledge(oria.database, FACT)
    conclude(oria, SUPPORTED)
    return oria


def conclude(oria: OriaEngine, synthesis: Mapping[str, Any]) -> None:
    oria.script.rules.clear()
    oria.script.on(label=SUPERVISOR).reply(choose("career_chat"))
    oria.script.on(label=CAREER_CHAT).reply(say(BACK))
    oria.script.on(label=CAREER_CHAT, tool=TRANSFER).reply(call(TRANSFER))
    oria.script.on(label=KNOWLEDGE).reply(call("search_knowledge_sources"), say("DONE"))
    oria.script.on(label=SYNTHESIS).reply(give(dict(synthesis)))


async def list_stages(oria: OriaEngine, turn_id: Any) -> list[str]:
    events = await oria.events(turn_id)
    return [event.data["stage"] for event in events if event.type is EventType.STAGE_STARTED]


async def read_research(oria: OriaEngine) -> str:
    """The status of the last handover's result in the thread."""
    messages = (await oria.state())["messages"]
    result = next(message for message in reversed(messages) if isinstance(message, ToolMessage))
    return str(json.loads(result.text)["status"])


async def test_a_supported_answer_ends_the_turn_in_its_own_stage(asking: OriaEngine) -> None:
    turn = await asking.run(QUESTION)
    assert turn.outcome is not None
    source = {"title": "Remote work", "url": "https://handbook.example/remote#days"}
    assert (turn.status, turn.outcome["text"], turn.outcome["sources"]) == ("completed", "Three days a week.", [source])
    assert turn.agent == "career_chat"
    assert await list_stages(asking, turn.id) == ["gate", "supervisor", "specialist", "knowledge"]
    events = await asking.events(turn.id)
    assert not [event for event in events if event.type is EventType.MESSAGE_DELTA]
    [completed] = [event for event in events if event.type is EventType.MESSAGE_COMPLETED]
    assert completed.data["sources"] == [source]
    said = (await asking.transcript())[-1]
    assert (said.text, list(said.sources)) == ("Three days a week.", [source])
    assert set(await asking.usage(turn.id)) >= {KNOWLEDGE, SYNTHESIS}
    # The person's own message is what memory judges, whoever answered it.
    assert asking.script.count(label="langgraph.memory_update_decision") == 1


async def test_a_miss_comes_back_in_the_specialists_stage(asking: OriaEngine) -> None:
    conclude(asking, MISS)
    turn = await asking.run(QUESTION)
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["text"]) == ("completed", BACK)
    assert await list_stages(asking, turn.id) == ["gate", "supervisor", "specialist", "knowledge", "specialist"]
    assert await read_research(asking) == "miss"
    async with asking.database.transaction() as connection:
        row = await (await connection.execute("select budgets from turns where id = %s", (turn.id,))).fetchone()
    assert row is not None
    # All three stages drew on the one budget.
    assert list(row["budgets"]) == ["handovers"]


async def test_no_checkpoint_holds_a_call_without_its_result(asking: OriaEngine) -> None:
    conclude(asking, MISS)
    await asking.say(QUESTION)
    event = await asking.next_stage("knowledge")
    between = await asking.state()
    assert_whole_pairs(between["messages"])
    assert not [message for message in between["messages"] if isinstance(message, AIMessage) and message.tool_calls]
    assert between["handover"].tool_calls[0]["name"] == TRANSFER
    await asking.stage(event)
    after = await asking.state()
    assert_whole_pairs(after["messages"])
    assert (after["handover"], after["handed_over"], after["research"]) == (None, True, "miss")
    await asking.drain()
    assert_whole_pairs((await asking.state())["messages"])


async def test_a_killed_research_is_unavailable_once_and_its_zombie_leaves_no_trace(asking: OriaEngine) -> None:
    asking.script.on(label=SYNTHESIS).reply(hang())
    turn = await asking.say(QUESTION)
    event, before = await asking.next_stage("knowledge"), await asking.thread_rows()
    running = asyncio.create_task(asking.stage(event, asking.worker(), request_id="killed"))
    await asking.asked(label=SYNTHESIS)
    assert await asking.fail(event, "killed") == {"decision": "recovered"}
    assert await asking.thread_rows() == before
    assert await asking.fail(event, "killed") == {"decision": "sent"}
    running.cancel()
    await asyncio.wait({running})
    researched = asking.script.count(label=KNOWLEDGE)
    await asking.drain()
    ended = await asking.turn(turn.id)
    assert ended.outcome is not None
    assert (ended.status, ended.outcome["text"]) == ("completed", BACK)
    assert await read_research(asking) == "unavailable"
    assert asking.script.count(label=KNOWLEDGE) == researched
    stages = await list_stages(asking, turn.id)
    assert stages == ["gate", "supervisor", "specialist", "knowledge", "knowledge", "specialist"]
    back = asking.script.seen(label=CAREER_CHAT)[-1]
    assert "could not be checked just now" in back.text
    assert_whole_history(back, last=QUESTION)
    conclude(asking, SUPPORTED)
    assert ((await asking.run(QUESTION)).outcome or {})["text"] == "Three days a week."
    assert_whole_pairs((await asking.state())["messages"])


async def test_a_cancelled_research_leaves_the_thread_as_before(asking: OriaEngine) -> None:
    asking.script.on(label=SYNTHESIS).reply(hang())
    turn = await asking.say(QUESTION)
    event, before = await asking.next_stage("knowledge"), await asking.thread_rows()
    running = asyncio.create_task(asking.stage(event, asking.worker()))
    await asking.asked(label=SYNTHESIS)
    await cancel_turn(asking.front, asking.database, USER, turn.id)
    assert await running == {"result": "cancelled"}
    assert (await asking.turn(turn.id)).status is TurnStatus.CANCELLED
    assert await asking.thread_rows() == before
    await asking.assert_goes_on()
    # What was handed over in the cancelled turn is nobody's in the next one.
    assert asking.script.count(label=SYNTHESIS) == 1


async def test_a_research_that_passes_its_stage_comes_back_as_unavailable(asking: OriaEngine) -> None:
    """In band: too little of the stage is left for a synthesis, so nothing is asked."""
    turn = await asking.say(QUESTION)
    event = await asking.next_stage("knowledge")
    assert await asking.stage(event, seconds=2.0) == {"result": "next"}
    await asking.drain()
    assert ((await asking.turn(turn.id)).outcome or {})["text"] == BACK
    assert await read_research(asking) == "unavailable"


@pytest.mark.parametrize("options", [{}, OVER_MCP], ids=["api", "mcp"])
async def test_a_named_career_chat_hands_over_too(asking: OriaEngine, options: Mapping[str, Any]) -> None:
    turn = await asking.run(QUESTION, agent="career_chat", **options)
    assert (turn.outcome or {})["text"] == "Three days a week."
    assert await list_stages(asking, turn.id) == ["gate", "specialist", "knowledge"]
    assert asking.script.count(label=SUPERVISOR) == 0


async def test_nobody_can_name_the_knowledge_base(asking: OriaEngine) -> None:
    turn = await asking.run(QUESTION, agent="knowledge_base")
    assert (turn.status, (turn.outcome or {})["error"]["code"]) == ("failed", "agent_unavailable")
    assert asking.script.count(label=KNOWLEDGE) == 0


async def test_the_supervisor_never_chooses_the_knowledge_base(asking: OriaEngine) -> None:
    await asking.run(QUESTION)
    [seen] = asking.script.seen(label=SUPERVISOR)
    assert "knowledge_base" not in seen.text


async def test_a_handover_after_a_pause_goes_on_in_another_worker(asking: OriaEngine) -> None:
    asking.script.on(label=CAREER_CHAT, tool=TRANSFER).reply(
        call(
            "request_clarification_tool",
            questions=[{"text": "Which country?", "input_type": "text", "options": [], "allow_free_text": False}],
        ),
        call(TRANSFER),
    )
    paused = await asking.run(QUESTION)
    assert paused.status is TurnStatus.AWAITING_INPUT
    await asking.answer_each(paused, "In Spain")
    await asking.drain(asking.worker())
    turn = await asking.turn(paused.id)
    assert (turn.outcome or {})["text"] == "Three days a week."
    request = asking.script.seen(label=KNOWLEDGE)[0].text
    assert "In Spain" in request
    assert_whole_pairs((await asking.state())["messages"])


@pytest.mark.parametrize("allowed", ["", "true"])
async def test_pages_on_this_machine_are_read_only_where_the_deployment_says_so(
    asking: OriaEngine, allowed: str
) -> None:
    """The setting reaches the pages through the request context; nothing in the graph reads an environment."""
    async with serve_site({"/": write_page("Intranet", "<p>Welcome.</p>")}) as site:
        await add_source(asking.database, f"{site.url}/", name="Intranet")
        await asking.say(QUESTION)
        event = await asking.next_stage("knowledge")
        environ = {"DATABASE_URL": asking.urls.app, "KNOWLEDGE_LOOPBACK": allowed}
        sandbox = Sandbox(environ, registry=asking.registry, publisher=asking.bus)
        asking.sandboxes.append(sandbox)
        # The passage answers in either case.
        assert await asking.stage(event, sandbox) == {"result": "end"}
        assert site.asked == (["/"] if allowed else [])
