"""Oria's workers killed while a model is at work: the turn fails safely, and the next one shows models whole pairs."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from oria_runtime.db.pool import TenantDatabase, create_pool
from tests.support.knowledge import add_knowledge
from tests.support.oria_cloud import STAGE_FUNCTIONS, OriaCloud, start_oria_cloud
from tests.support.oria_engine import CAREER_CHAT, GATE, PROFILE_TOOL, SUPERVISOR, career_chat
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import call, hang, say, serve_scripted_model

pytestmark = [pytest.mark.slow, pytest.mark.deadline, pytest.mark.asyncio(loop_scope="module")]

# What the failure record may take after the kill (DESIGN §2.2), and what a loaded machine may add.
DECISION_SECONDS = 2.0
SLACK_SECONDS = 1.5
TRANSFER, KNOWLEDGE = "transfer_to_knowledge_base", "langgraph.knowledge_base_agent"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def oria(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OriaCloud]:
    async with (
        serve_scripted_model() as script,
        start_oria_cloud(
            tmp_path_factory.mktemp("oria"),
            script,
            prewarm=[*STAGE_FUNCTIONS, "KnowledgeFunction", "TurnFailedFunction"],
        ) as cloud,
    ):
        yield cloud


async def test_a_specialist_killed_between_tool_and_answer_leaves_whole_pairs(oria: OriaCloud) -> None:
    conversation = await begin(oria)
    oria.script.on(label=CAREER_CHAT, where=has_result, times=1).reply(hang())
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(call(PROFILE_TOOL, need_basic_info=True))
    asked = oria.script.count(label=CAREER_CHAT)
    turn = await oria.say(conversation, "Who am I?")
    await until_asked(oria, asked + 2, label=CAREER_CHAT)
    before = oria.thread(conversation)
    row = await kill(oria, "SpecialistFunction", turn)
    assert (row["status"], row["outcome"]["error"]["code"]) == ("failed", "crashed")
    assert oria.thread(conversation) == before
    assert [role for role, _ in oria.transcript(conversation)][-2:] == ["user", "assistant"]
    await assert_goes_on(oria, conversation)


async def test_nothing_driven_by_a_model_follows_a_killed_gate(oria: OriaCloud) -> None:
    conversation = await begin(oria)
    oria.script.on(label=GATE, text="Do something", times=1).reply(hang())
    before = oria.thread(conversation)
    asked = oria.script.count(label=GATE)
    turn = await oria.say(conversation, "Do something")
    await until_asked(oria, asked + 1, label=GATE)
    total = len(oria.script.requests)
    row = await kill(oria, "GateFunction", turn)
    assert row["status"] == "failed"
    await asyncio.sleep(1)
    assert len(oria.script.requests) == total
    assert (row["memory_claim"], row["usage"]) == (None, {})
    sent = oria.query("select detail_type from oria.outbox where turn_id = %s order by id", turn)
    assert [each["detail_type"] for each in sent] == ["turn.stage", "turn.failed"]
    assert oria.thread(conversation) == before
    await assert_goes_on(oria, conversation)
    assert not any("Do something" in seen.text for seen in oria.script.seen(label=CAREER_CHAT))


async def test_a_supervisor_killed_while_it_decides_sends_the_turn_to_nobody(oria: OriaCloud) -> None:
    conversation = await begin(oria)
    oria.script.on(label=SUPERVISOR, text="Which way", times=1).reply(hang())
    asked = oria.script.count(label=SUPERVISOR)
    turn = await oria.say(conversation, "Which way?")
    await until_asked(oria, asked + 1, label=SUPERVISOR)
    before = oria.thread(conversation)
    specialists = oria.script.count(label=CAREER_CHAT)
    row = await kill(oria, "SupervisorFunction", turn)
    assert (row["status"], row["agent"]) == ("failed", None)
    assert oria.thread(conversation) == before
    assert oria.script.count(label=CAREER_CHAT) == specialists
    await assert_goes_on(oria, conversation)


async def test_a_knowledge_base_killed_in_its_research_is_unavailable_once(oria: OriaCloud) -> None:
    conversation = await begin(oria)
    async with create_pool(oria.urls.app, max_size=1) as pool:
        await add_knowledge(TenantDatabase(pool, oria.tenant_id), "Remote work is allowed here.")
    oria.script.on(label=CAREER_CHAT, where=has_result).reply(say("I could not check that just now."))
    oria.script.on(label=CAREER_CHAT, tool=TRANSFER, times=1).reply(call(TRANSFER))
    oria.script.on(label=KNOWLEDGE, times=1).reply(hang())
    turn = await oria.say(conversation, "Is remote work allowed here?")
    await until_asked(oria, 1, label=KNOWLEDGE)
    row = await kill(oria, "KnowledgeFunction", turn, status="completed")
    assert row["outcome"]["text"] == "I could not check that just now."
    assert oria.script.count(label=KNOWLEDGE) == 1
    answered = oria.script.seen(label=CAREER_CHAT)[-1]
    assert "could not be checked just now" in answered.text
    assert_whole_history(answered, last="Is remote work allowed here?")
    oria.script.rules.clear()
    career_chat(oria.script, "Hello Ana.")
    await assert_goes_on(oria, conversation)


def has_result(seen: Any) -> bool:
    return "function_call_output" in seen.text


async def begin(oria: OriaCloud) -> UUID:
    """A conversation with a first good turn, with a tool pair in it."""
    oria.script.reset()
    career_chat(oria.script, "Hello Ana.")
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(call(PROFILE_TOOL, need_basic_info=True))
    conversation = await oria.converse()
    assert (await oria.run("Hello", conversation))["status"] == "completed"
    await oria.cloud.settle()
    return conversation


async def until_asked(oria: OriaCloud, count: int, **matching: Any) -> None:
    async with asyncio.timeout(20):
        while oria.script.count(**matching) < count:
            await asyncio.sleep(0.02)


async def kill(oria: OriaCloud, function: str, turn: UUID, status: str = "failed") -> dict[str, Any]:
    """SIGKILL to the worker at work; the turn's row once it has ended, which must be soon."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert oria.cloud.kill_worker(function, busy=True, chance=random.Random(1)) is not None
    row = await oria.wait(turn, status)
    assert loop.time() - started < DECISION_SECONDS + SLACK_SECONDS
    return row


async def assert_goes_on(oria: OriaCloud, conversation: UUID) -> None:
    before = len(oria.script.requests)
    row = await oria.run("Are you there?", conversation)
    assert (row["status"], row["outcome"]["text"]) == ("completed", "Hello Ana.")
    shown = [seen for seen in oria.script.requests[before:] if seen.label == CAREER_CHAT]
    assert shown
    for seen in shown:
        assert_whole_history(seen, last="Are you there?")
