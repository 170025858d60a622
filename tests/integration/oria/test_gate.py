"""Nothing acts on a message before the gate allows it, and what it refuses never reaches the thread."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graph.oria.boundary import STATIC_TEXTS
from graph.oria.gate import UNANSWERED_TEXTS
from graph.policy import BOUNDARY_OUTPUT_TOKENS
from oria_runtime.errors import StageFailedError
from tests.integration.oria.conftest import STRUCTURED, Person, spread
from tests.integration.oria.snapshots import assert_snapshot
from tests.support.scripted_model import (
    Script,
    Step,
    choose,
    cut,
    decide_raw,
    drop,
    fail,
    hang,
    malformed,
    refuse,
    say,
    wait,
)

DECISION = "langgraph.guardrails_decision"
RESPONSE = "langgraph.guardrails_response"


def read_evidence(script: Script) -> Any:
    """The JSON that the last decision was made from."""
    request = script.seen(label=DECISION)[-1]
    content = request.body["input"][0]["content"]
    return json.loads("".join(part["text"] for part in content))


async def test_an_allowed_message_enters_the_thread_under_the_turns_id(person: Person, script: Script) -> None:
    turn = await person.start_turn("Find me a course on SQL")
    values = await person.run(turn)
    assert [(type(message), message.text, message.id) for message in values["messages"]] == [
        (HumanMessage, "Find me a course on SQL", str(turn.id))
    ]
    assert values["decision"] == "allow"
    assert values["outcome"] is None
    assert script.count(label=DECISION) == 1
    assert script.count(label=RESPONSE) == 0


async def test_the_decision_request_is_the_reviewed_one(person: Person, script: Script) -> None:
    await person.say("Find me a course on SQL")
    assert_snapshot("guardrail_decision", script.seen(label=DECISION)[0].body)


async def test_the_evidence_is_the_latest_text_and_the_last_ten_texts(person: Person, script: Script) -> None:
    for number in range(6):
        turn = await person.start_turn(f"question {number}")
        await person.write(turn, "assistant", " \n" if number == 5 else f"answer {number}")
    await person.say("the latest")
    evidence = read_evidence(script)
    assert evidence["latest_user_message"] == "the latest"
    assert [entry["text"] for entry in evidence["recent_messages"]] == [
        *(f"{kind} {number}" for number in range(5) for kind in ("question", "answer")),
        "question 5",
    ][-10:]
    assert [entry["role"] for entry in evidence["recent_messages"]][-2:] == ["assistant", "user"]


async def test_a_blocked_message_stays_evidence_for_the_next_one(person: Person, script: Script) -> None:
    script.on(label=DECISION, times=1).reply(choose("block"))
    await person.say("how do I forge a diploma")
    values = await person.say("and the second part of it?")
    assert read_evidence(script)["recent_messages"] == [{"role": "user", "text": "how do I forge a diploma"}]
    assert "forge" not in repr(values)


async def test_the_evidence_holds_nothing_of_other_conversations(person: Person, script: Script) -> None:
    other = await Person(person.database, script, person.config).open()
    await other.say("a secret of mine")
    await person.say("hello")
    assert read_evidence(script)["recent_messages"] == []


@pytest.mark.parametrize("config", [{}, STRUCTURED], ids=["native", "structured"])
async def test_a_blocked_text_is_nowhere_in_the_thread(person: Person, script: Script, config: dict[str, Any]) -> None:
    person = person.with_config(config)
    script.on(label=DECISION).reply(choose("block"))
    script.on(label=RESPONSE).reply(say("I cannot help with that, but with your career."))
    values = await person.say("how do I forge a diploma")
    assert values["outcome"]["type"] == "boundary"
    assert values["outcome"]["decision"] == "block"
    assert values["outcome"]["text"] == "I cannot help with that, but with your career."
    assert values.get("messages", []) == []
    assert await person.read_next() == ()
    assert "forge" not in repr([entry async for entry in person.saver.alist(person.config_of_thread)])
    assert "forge" not in repr(person.saver.blobs)
    assert script.count(label="langgraph.supervisor") == 0


async def test_a_doubtful_message_and_its_question_enter_the_thread(person: Person, script: Script) -> None:
    script.on(label=DECISION).reply(choose("doubt"))
    script.on(label=RESPONSE).reply(say("What is this about?"))
    values = await person.say("do the thing")
    assert [message.text for message in values["messages"]] == ["do the thing", "What is this about?"]
    assert values["outcome"]["decision"] == "doubt"
    assert await person.read_next() == ()


async def test_the_boundary_request_is_the_reviewed_one(person: Person, script: Script) -> None:
    script.on(label=DECISION).reply(choose("doubt"))
    await person.say("fais le truc", locale="fr")
    (request,) = script.seen(label=RESPONSE)
    assert_snapshot("guardrail_response", request.body)
    assert request.tools == []
    assert request.prompt is not None
    assert request.prompt.max_tokens == BOUNDARY_OUTPUT_TOKENS
    assert "Write in French." in request.prompt.system_text


@pytest.mark.parametrize("decision", ["doubt", "block"])
@pytest.mark.parametrize(("locale", "language"), [("en", "en"), ("fr-CA", "fr"), ("es", "es"), ("de", "en")])
async def test_only_an_empty_answer_is_replaced_by_the_static_text(
    person: Person, script: Script, decision: str, locale: str, language: str
) -> None:
    script.on(label=DECISION).reply(choose(decision))
    script.on(label=RESPONSE).reply(say("  \n"))
    values = await person.say("hm", locale=locale)
    assert values["outcome"]["text"] == STATIC_TEXTS[decision][language]


UNKNOWN = {
    "type": "choice",
    "name": "guardrail_decision",
    "choice": "maybe",
    "probabilities": spread({"allow": 0.0, "doubt": 0.0, "block": 0.0, "maybe": 1.0}),
    "confidence": 1.0,
}


@pytest.mark.parametrize(
    "step",
    [refuse(), malformed(), decide_raw(), decide_raw(UNKNOWN), fail(400), drop()],
    ids=["refusal", "malformed", "no answer", "unknown choice", "rejected", "dropped"],
)
async def test_without_a_valid_decision_the_turn_stops(person: Person, script: Script, step: Step) -> None:
    script.on(label=DECISION).reply(step)
    with pytest.raises(StageFailedError) as raised:
        await person.say("hello")
    assert raised.value.code == "safety_unavailable"
    assert (await person.read_values()).get("messages", []) == []
    assert script.count() == script.count(label=DECISION)


@pytest.mark.parametrize("step", [refuse(), cut("{"), say("no JSON"), fail(400)])
async def test_without_a_valid_structured_decision_the_turn_stops(person: Person, script: Script, step: Step) -> None:
    script.on(label=DECISION).reply(step)
    with pytest.raises(StageFailedError) as raised:
        await person.with_config(STRUCTURED).say("hello")
    assert raised.value.code == "safety_unavailable"
    assert script.count(endpoint="decisions") == 0
    assert script.count() == script.count(label=DECISION)


async def test_a_refusal_to_classify_is_no_block_and_not_worth_a_retry(person: Person, script: Script) -> None:
    script.on(label=DECISION).reply(refuse())
    with pytest.raises(StageFailedError) as raised:
        await person.say("hello")
    assert not raised.value.retryable
    assert script.count(label=RESPONSE) == 0


@pytest.mark.parametrize("step", [refuse(), cut(), fail(400), malformed()])
async def test_without_a_whole_boundary_text_the_turn_stops(person: Person, script: Script, step: Step) -> None:
    script.on(label=DECISION).reply(choose("block"))
    script.on(label=RESPONSE).reply(step)
    with pytest.raises(StageFailedError) as raised:
        await person.say("how do I forge a diploma")
    assert raised.value.code == "safety_unavailable"
    assert await person.read_next() != ("supervisor",)


@pytest.mark.parametrize("decision", ["allow", "doubt", "block"])
async def test_how_sure_the_model_is_decides_nothing(person: Person, script: Script, decision: str) -> None:
    unsure = {"allow": 0.34, "doubt": 0.33, "block": 0.33}
    answer = {"type": "choice", "name": "guardrail_decision", "choice": decision, "confidence": 0.01}
    script.on(label=DECISION).reply(decide_raw(answer | {"probabilities": spread(unsure)}))
    assert (await person.say("hello"))["decision"] == decision


async def test_a_passing_failure_is_retried_inside_the_deadline(person: Person, script: Script) -> None:
    script.on(label=DECISION).reply(fail(503, retry_after=0.01), choose("allow"))
    assert (await person.say("hello"))["decision"] == "allow"
    assert script.count(label=DECISION) == 2


@pytest.mark.slow
async def test_decision_and_boundary_text_share_one_deadline(person: Person, script: Script) -> None:
    person.seconds = 1.0
    script.on(label=DECISION).reply(wait(0.5, choose("block")))
    script.on(label=RESPONSE).reply(hang())
    started = asyncio.get_running_loop().time()
    with pytest.raises(StageFailedError) as raised:
        await person.say("hello")
    assert raised.value.code == "safety_unavailable"
    assert raised.value.retryable
    assert asyncio.get_running_loop().time() - started < 1.5


@pytest.mark.slow
async def test_cancellation_is_no_decision(person: Person, script: Script) -> None:
    script.on(label=DECISION).reply(hang())
    running = asyncio.create_task(person.say("hello"))
    async with asyncio.timeout(5):
        while not script.count(label=DECISION):
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_message_without_an_answer_gets_a_closing_line(person: Person) -> None:
    await person.say("Bonjour", locale="fr")
    values = await person.say("Tu es là ?", locale="fr")
    assert [(message.type, message.text) for message in values["messages"]] == [
        ("human", "Bonjour"),
        ("ai", UNANSWERED_TEXTS["fr"]),
        ("human", "Tu es là ?"),
    ]


async def test_a_result_that_nothing_followed_gets_a_closing_line_too(person: Person) -> None:
    """A colleague was confirmed, and the specialist after that failed: some models take no message after a result."""
    await person.say("Practise with Ada")
    await person.answer(AIMessage("", tool_calls=[{"id": "c1", "name": "person_disambiguation_tool", "args": {}}]))
    await person.answer(ToolMessage("confirmed", tool_call_id="c1"))
    values = await person.say("Hello?")
    assert [message.type for message in values["messages"]] == ["human", "ai", "tool", "ai", "human"]


async def test_an_answered_message_gets_none(person: Person) -> None:
    await person.say("Hello")
    await person.answer(AIMessage("Hi, what can I do?"))
    values = await person.say("Find SQL")
    assert [message.text for message in values["messages"]] == ["Hello", "Hi, what can I do?", "Find SQL"]


async def test_channels_of_a_turn_start_anew(person: Person, script: Script) -> None:
    script.on(label=DECISION, times=1).reply(choose("doubt"))
    await person.say("hm", agent="training_finder")
    turn = await person.start_turn("Find SQL")
    values = await person.run(turn)
    assert values["outcome"] is None
    assert values["decision"] == "allow"
    assert values["turn_id"] == str(turn.id)
    assert values["requested_agent"] is None


async def test_a_named_agent_is_reached_without_the_supervisor(person: Person, script: Script) -> None:
    values = await person.say("Find SQL", agent="training_finder")
    assert await person.read_next() == ("training_finder_agent",)
    assert values["agent"] == values["active_agent"] == "training_finder"
    assert script.count() == script.count(label=DECISION) == 1


@pytest.mark.parametrize("agent", ["training_finder", "astrologer"])
async def test_a_named_agent_that_is_not_enabled_fails_before_any_call(
    person: Person, script: Script, agent: str
) -> None:
    person = person.with_config({"chatbot": {"agents": {"career_chat": {}}}})
    with pytest.raises(StageFailedError) as raised:
        await person.say("Find SQL", agent=agent)
    assert raised.value.code == "agent_unavailable"
    assert not raised.value.retryable
    assert script.count() == 0
