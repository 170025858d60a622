"""The shared clarification tool: pausing, answers, skips, and what no longer happens beside a pause."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graph.oria.window import starts_turn
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.models import Option, Question
from tests.integration.agents.conftest import USER, Conversation
from tests.support.people import add_person
from tests.support.scripted_model import Script, call, call_all, say

TOOL = "request_clarification_tool"
PROFILE = "get_user_profile_selective_tool"


def question(text: str, *options: str, free: bool = False, kind: str = "single_select") -> dict[str, Any]:
    return {
        "text": text,
        "input_type": kind if options else "text",
        "options": list(options),
        "allow_free_text": free,
    }


async def test_questions_get_their_ids_from_the_backend(career_chat: Conversation, script: Script) -> None:
    questions = [question("Which meeting?"), question("With whom?", "Manager", "HR", "Manager", free=True)]
    script.on(tool=TOOL).reply(call(TOOL, questions=questions))
    stop = await career_chat.say("Help me prepare")
    first, second = stop.questions
    assert first == Question(id="q1", text="Which meeting?").as_json()
    options = (Option("o1", "Manager"), Option("o2", "HR"))
    assert second == Question("q2", "With whom?", "single_select", options, allow_free_text=True).as_json()
    assert stop.activities()[-1] == ("activity.completed", TOOL, "paused")


async def test_the_exchange_follows_the_resolved_pair(career_chat: Conversation, script: Script) -> None:
    questions = [question("Which meeting?"), question("With whom?", "Manager", "HR")]
    script.on(tool=TOOL).reply(call(TOOL, questions=questions), say("ANSWER"))
    await career_chat.say("Help me prepare")
    stop = await career_chat.answer({"text": "My yearly review"}, {"option_ids": ["o2"]})
    kinds = [type(message) for message in stop.messages]
    assert kinds == [HumanMessage, AIMessage, ToolMessage, AIMessage, HumanMessage, AIMessage]
    asked, replied = stop.messages[3], stop.messages[4]
    assert "Which meeting?" in asked.text
    assert "My yearly review" in replied.text
    assert "HR" in replied.text
    assert [starts_turn(message) for message in stop.messages].count(True) == 1
    assert stop.outcome["text"] == stop.deltas == "This is a scripted answer."


async def test_a_skipped_question_is_not_asked_again(career_chat: Conversation, script: Script) -> None:
    script.on(tool=TOOL).reply(
        call(TOOL, questions=[question("Which meeting?")]),
        call(TOOL, questions=[question("which  meeting")]),
        say("ANSWER"),
    )
    await career_chat.say("Help me prepare")
    stop = await career_chat.answer({"skip": True})
    assert stop.interrupts == []
    results = [message for message in stop.messages if isinstance(message, ToolMessage)]
    assert "skipped these questions already" in results[1].text
    assert "[skipped]" in stop.messages[4].text


async def test_two_pauses_in_one_turn_wait_one_after_the_other(career_chat: Conversation, script: Script) -> None:
    script.on(tool=TOOL).reply(
        call(TOOL, questions=[question("First?")]), call(TOOL, questions=[question("Second?")]), say("ANSWER")
    )
    first = await career_chat.say("Help")
    second = await career_chat.answer({"text": "one"})
    assert [first.questions[0]["text"], second.questions[0]["text"]] == ["First?", "Second?"]
    assert first.interrupts[0].value["interaction_id"] != second.interrupts[0].value["interaction_id"]
    third = await career_chat.answer({"text": "two"})
    assert third.outcome["type"] == "message"
    assert script.count(tool=TOOL) == 3


async def test_calls_beside_a_pausing_one_are_rejected_before_anything_runs(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_person(database, USER, job_title="Analyst")
    both = call_all((TOOL, {"questions": [question("Which?")]}), (PROFILE, {"need_basic_info": True}))
    script.on(tool=TOOL).reply(both, say("ANSWER"))
    stop = await career_chat.say("Help")
    assert stop.interrupts == []
    call_message = stop.messages[1]
    assert isinstance(call_message, AIMessage)
    results = [message for message in stop.messages if isinstance(message, ToolMessage)]
    assert {result.tool_call_id for result in results} == {entry["id"] for entry in call_message.tool_calls}
    assert {result.status for result in results} == {"error"}
    assert stop.activities() == []


async def test_a_resume_starts_a_new_allowance(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_person(database, USER, job_title="Analyst")
    reading = call(PROFILE, need_basic_info=True)
    asking = call(TOOL, questions=[question("Which?")])
    script.on(tool=TOOL).reply(*[reading] * 5, asking, *[reading] * 6, say("ANSWER"))
    await career_chat.say("Help")
    stop = await career_chat.answer({"text": "This one"})
    results = [message for message in stop.messages if isinstance(message, ToolMessage)]
    assert [result.status for result in results] == ["success"] * 12


async def test_without_interactions_the_tool_does_not_exist(career_chat: Conversation, script: Script) -> None:
    stop = await career_chat.with_options(interactions=False).say("Help")
    assert script.count(tool=TOOL) == 0
    assert "ask for it in your answer" in script.requests[0].text
    assert stop.outcome["type"] == "message"


async def test_an_agent_whose_tenant_excludes_the_tool_is_not_told_of_it(
    career_chat: Conversation, script: Script
) -> None:
    config = TenantConfig.model_validate({"chatbot": {"agents": {"career_chat": {"tool_exclusion": [TOOL]}}}})
    await career_chat.with_options(config=config).say("Help")
    assert TOOL not in script.requests[0].text


@pytest.mark.parametrize("questions", [[], [question("  \x00 ")], [question("Q?")] * 6, "none"])
async def test_unusable_questions_pause_nothing(career_chat: Conversation, script: Script, questions: Any) -> None:
    script.on(tool=TOOL).reply(call(TOOL, questions=questions), say("ANSWER"))
    stop = await career_chat.say("Help")
    assert stop.interrupts == []
    assert isinstance(stop.messages[2], ToolMessage)
    assert stop.messages[2].status == "error"


async def test_a_new_turn_over_a_pause_starts_clean(career_chat: Conversation, script: Script) -> None:
    script.on(tool=TOOL).reply(call(TOOL, questions=[question("Which?")]), say("ANSWER"))
    await career_chat.say("Help")
    stop = await career_chat.say("Something else")
    assert [type(message) for message in stop.messages] == [HumanMessage, HumanMessage, AIMessage]
