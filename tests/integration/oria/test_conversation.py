"""Whole turns through gate, supervisor and a real specialist, for as long as a person likes."""

from langchain_core.messages import HumanMessage

from graph.oria.graph import build
from graph.policy import WINDOW_MESSAGES
from graph.registry import ASSISTANTS
from tests.integration.oria.conftest import Person
from tests.support.scripted_model import Script, choose, say

ORIA = ASSISTANTS["oria"]


async def test_a_turn_ends_with_the_specialists_outcome(person: Person, script: Script) -> None:
    person.graph = build().compile(checkpointer=person.saver)
    script.on(label="langgraph.supervisor").reply(choose("career_chat"))
    script.on(label="langgraph.career_chat_agent").reply(say("Hello Ada."))
    values = await person.say("Hello")
    outcome = ORIA.read_outcome(values)
    assert outcome is not None
    assert (outcome.type, outcome.text) == ("message", "Hello Ada.")
    assert ORIA.read_agent(values) == "career_chat"
    assert [message.text for message in values["messages"]] == ["Hello", "Hello Ada."]


async def test_a_long_conversation_stays_in_its_window(person: Person, script: Script) -> None:
    person.graph = build().compile(checkpointer=person.saver)
    script.on(label="langgraph.supervisor").reply(choose("career_chat"))
    script.on(label="langgraph.summary").reply(*(say(f"summary {number}") for number in range(1, 10)))
    for number in range(70):
        values = await person.say(f"question {number}")
        assert len(values["messages"]) <= WINDOW_MESSAGES
        assert isinstance(values["messages"][0], HumanMessage)
        assert values["messages"][-2].text == f"question {number}"
    assert script.count(label="langgraph.summary") == 3
    assert values["summary"] == "summary 3"
