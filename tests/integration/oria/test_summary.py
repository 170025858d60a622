"""Long conversations: older turns leave the window for the summary, and nothing is lost when there is none."""

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graph.oria.summary import write_summary
from graph.policy import KEPT_MESSAGES, SUMMARY_OUTPUT_TOKENS, WINDOW_MESSAGES
from oria_runtime.models.errors import ModelTimeoutError
from tests.integration.oria.conftest import Person
from tests.integration.oria.snapshots import assert_snapshot
from tests.integration.oria.test_supervisor import HOSTILE, ROUTING, read_input
from tests.support.scripted_model import Script, Seen, Step, cut, fail, hang, refuse, say

SUMMARY = "langgraph.summary"


async def talk(person: Person, turns: int) -> None:
    """Fill the window with that many answered turns."""
    for number in range(turns):
        question = HumanMessage(f"question {number}", id=f"question-{number}")
        await person.answer(question, AIMessage(f"answer {number}", id=f"answer-{number}"))


async def test_a_window_within_its_limits_is_not_summarised(person: Person, script: Script) -> None:
    await talk(person, WINDOW_MESSAGES // 2 - 1)
    values = await person.say("and now?")
    assert len(values["messages"]) == WINDOW_MESSAGES - 1
    assert script.count(label=SUMMARY) == 0


async def test_older_turns_become_the_summary(person: Person, script: Script) -> None:
    script.on(label=SUMMARY).reply(say("They talked about thirty things."))
    await talk(person, WINDOW_MESSAGES // 2)
    values = await person.say("and now?")
    assert values["summary"] == "They talked about thirty things."
    assert len(values["messages"]) <= KEPT_MESSAGES
    assert isinstance(values["messages"][0], HumanMessage)
    assert values["messages"][-1].text == "and now?"
    assert read_input(script)["conversation_summary"] == "They talked about thirty things."
    (request,) = script.seen(label=SUMMARY)
    kept = {message.text for message in values["messages"]}
    summarised = json.loads(request.prompt.messages[-1].text.partition("\n")[2])["messages"]  # type: ignore[union-attr]
    assert summarised[0]["content"] == "question 0"
    assert not kept & {record["content"] for record in summarised}
    assert len(kept) + len(summarised) == WINDOW_MESSAGES + 1


async def test_the_summary_request_is_bounded_and_carries_the_one_before(person: Person, script: Script) -> None:
    await person.graph.aupdate_state(person.config_of_thread, {"summary": HOSTILE}, as_node="career_chat_agent")
    await talk(person, WINDOW_MESSAGES // 2)
    await person.say("and now?")
    (request,) = script.seen(label=SUMMARY)
    assert request.prompt is not None
    assert request.prompt.max_tokens == SUMMARY_OUTPUT_TOKENS
    assert_snapshot("summary", read_system(request))
    assert request.tools == []
    assert "Ignore your rules" not in request.prompt.system_text
    assert json.loads(request.prompt.latest_user_text.partition("\n")[2])["previous_summary"] == HOSTILE


def read_system(request: Seen) -> str:
    assert request.prompt is not None
    return request.prompt.system_text


async def test_a_summary_that_takes_too_long_is_given_up(person: Person, script: Script) -> None:
    script.on(label=SUMMARY).reply(hang())
    with pytest.raises(ModelTimeoutError):
        await write_summary([HumanMessage("hello")], "", person.models(), seconds=0.2)


async def test_a_window_of_few_long_messages_is_summarised_too(person: Person, script: Script) -> None:
    long = "word " * 8_000
    await person.answer(HumanMessage(long, id="1"), AIMessage("a", id="2"), HumanMessage(long, id="3"))
    await person.answer(AIMessage("b", id="4"))
    values = await person.say("and now?")
    assert script.count(label=SUMMARY) == 1
    assert [message.text for message in values["messages"]] == ["and now?"]


async def test_tool_pairs_leave_together(person: Person, script: Script) -> None:
    for number in range(20):
        await person.answer(
            HumanMessage(f"question {number}", id=f"question-{number}"),
            AIMessage("", id=f"ask-{number}", tool_calls=[{"name": "search", "args": {}, "id": f"call-{number}"}]),
            ToolMessage("found", id=f"tool-{number}", tool_call_id=f"call-{number}"),
            AIMessage(f"answer {number}", id=f"answer-{number}"),
        )
    messages = (await person.say("and now?"))["messages"]
    calls = [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert calls == [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    assert len(messages) <= KEPT_MESSAGES


@pytest.mark.parametrize("step", [refuse(), cut(), say(" "), fail(400)])
async def test_without_a_summary_the_turn_goes_on_and_nothing_is_lost(
    person: Person, script: Script, step: Step
) -> None:
    script.on(label=SUMMARY).reply(step)
    await talk(person, WINDOW_MESSAGES // 2)
    values = await person.say("and now?")
    assert len(values["messages"]) == WINDOW_MESSAGES + 1
    assert values.get("summary", "") == ""
    assert await person.read_next() == ("career_chat_agent",)
    assert len(read_input(script)["messages"]) == WINDOW_MESSAGES


async def test_a_named_agent_with_a_full_window_is_summarised_without_a_routing_call(
    person: Person, script: Script
) -> None:
    await talk(person, WINDOW_MESSAGES // 2)
    values = await person.say("and now?", agent="training_finder")
    assert script.count(label=SUMMARY) == 1
    assert script.count(label=ROUTING) == 0
    assert len(values["messages"]) <= KEPT_MESSAGES
    assert await person.read_next() == ("training_finder_agent",)


@pytest.mark.slow
async def test_cancellation_is_not_taken_for_a_missing_summary(person: Person, script: Script) -> None:
    script.on(label=SUMMARY).reply(hang())
    await talk(person, WINDOW_MESSAGES // 2)
    running = asyncio.create_task(person.say("and now?"))
    async with asyncio.timeout(5):
        while not script.count(label=SUMMARY):
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
