"""Career Chat hands over to the Knowledge Base: when it can, what the thread holds, and what comes back."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from graph.middleware.handover import record_handover, withdraw_call
from graph.middleware.interactions import REJECTION
from graph.oria.agents.career_chat.agent import RESEARCH_NOTES
from graph.oria.tools.transfer_to_knowledge_base import NAME as TRANSFER
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import StageFailedError
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.agents.conftest import USER, Conversation
from tests.support.knowledge import add_document, add_knowledge, add_source
from tests.support.oria_wire import assert_whole_history
from tests.support.people import add_person
from tests.support.scripted_model import Script, Seen, call, call_all, give, hang, say
from tests.support.tool_run import assert_whole_pairs
from tests.support.trainings import add_training

CAREER_CHAT = "langgraph.career_chat_agent"
KNOWLEDGE = "langgraph.knowledge_base_agent"
SYNTHESIS = "knowledge_base.synthesis"
SEARCH = "search_knowledge_sources"
QUESTION = "Is remote work allowed here?"
FACT = "Remote work is allowed here on three days a week."
SUPPORTED = {"status": "supported", "answer": "Three days a week.", "citations": ["e1"]}
MISS = {"status": "miss", "answer": "", "citations": []}


def hand_over(script: Script, synthesis: dict[str, Any]) -> None:
    """Career Chat calls the Knowledge Base, which searches once and concludes."""
    script.on(label=CAREER_CHAT, tool=TRANSFER).reply(call(TRANSFER))
    script.on(label=KNOWLEDGE).reply(call(SEARCH), say("DONE"))
    script.on(label=SYNTHESIS).reply(give(synthesis))


def is_public(seen: Seen) -> bool:
    return seen.label == CAREER_CHAT and not seen.tools


async def test_a_supported_answer_is_delivered_verbatim_and_ends_the_turn(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, SUPPORTED)
    stop = await career_chat.say(QUESTION)
    assert stop.outcome["text"] == "Three days a week."
    assert stop.outcome["sources"] == [{"title": "Remote work", "url": "https://handbook.example/remote#days"}]
    assert stop.deltas == ""
    kinds = [type(message) for message in stop.messages]
    assert kinds == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    result = stop.messages[2]
    assert isinstance(result, ToolMessage)
    assert (result.name, json.loads(result.text)["status"]) == (TRANSFER, "supported")
    assert stop.messages[-1].text == "Three days a week."
    # One choice of Career Chat, two turns of research, one synthesis: no second answer.
    assert [seen.label for seen in script.requests] == [CAREER_CHAT, KNOWLEDGE, KNOWLEDGE, SYNTHESIS]
    assert_whole_pairs(stop.messages)


@pytest.mark.parametrize("status", ["miss", "unavailable"])
async def test_a_miss_and_an_unavailable_source_come_back_once_with_different_guidance(
    career_chat: Conversation, script: Script, database: TenantDatabase, status: str
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, MISS)
    if status == "unavailable":
        career_chat = career_chat.with_options(directive="unavailable")
    script.on(where=is_public).reply(say("I do not know that. Who could you ask?"))
    stop = await career_chat.say(QUESTION)
    assert stop.outcome["text"] == stop.deltas == "I do not know that. Who could you ask?"
    assert stop.outcome["sources"] == []
    result = stop.messages[2]
    assert isinstance(result, ToolMessage)
    assert json.loads(result.text)["status"] == status
    back = script.seen(label=CAREER_CHAT)[1:]
    assert back
    other = {"miss": "unavailable", "unavailable": "miss"}[status]
    for seen in back:
        assert TRANSFER not in seen.tools
        assert RESEARCH_NOTES[status] in json.dumps(seen.body, ensure_ascii=False).replace("\\n", "\n")
        assert RESEARCH_NOTES[other] not in seen.text
        assert_whole_history(seen, last=QUESTION)
    if status == "unavailable":
        assert script.count(label=KNOWLEDGE) == script.count(label=SYNTHESIS) == 0
        assert "searched" not in result.text
    assert_whole_pairs(stop.messages)


async def test_the_next_turn_may_hand_over_again_and_starts_without_what_came_back(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, MISS)
    await career_chat.say("And the canteen?")
    asked = len(script.requests)
    hand_over(script, SUPPORTED)
    stop = await career_chat.say(QUESTION)
    assert stop.outcome["text"] == "Three days a week."
    first = script.requests[asked]
    assert TRANSFER in first.tools
    assert RESEARCH_NOTES["miss"] not in first.text
    assert_whole_pairs(stop.messages)


@pytest.mark.parametrize("what", ["nothing", "a disabled source", "an excluded tool", "a disabled agent"])
async def test_the_handover_is_hidden_where_it_leads_nowhere(
    career_chat: Conversation, script: Script, database: TenantDatabase, what: str
) -> None:
    if what != "nothing":
        await add_knowledge(database, FACT)
    if what == "a disabled source":
        async with database.transaction() as connection:
            await connection.execute("update knowledge_sources set status = 'disabled'")
        await add_source(database, "https://intranet.example/", name="Old intranet", status="disabled")
    agents = {
        "an excluded tool": {"career_chat": {"tool_exclusion": [TRANSFER]}},
        "a disabled agent": {"career_chat": {}, "knowledge_base": {"active": False}},
    }.get(what)
    if agents is not None:
        config = TenantConfig.model_validate({"chatbot": {"agents": agents}})
        career_chat = career_chat.with_options(config=config)
    stop = await career_chat.say(QUESTION)
    assert script.count(tool=TRANSFER) == 0
    assert stop.outcome["text"] == "This is a scripted answer."
    # The check asked neither a model nor for an embedding.
    assert {seen.label for seen in script.requests} == {CAREER_CHAT}
    assert script.count(endpoint="embeddings") == 0


async def test_an_active_web_source_is_enough_and_is_not_fetched_before_a_handover(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_source(database, "http://127.0.0.1:9/")
    config = TenantConfig.model_validate({"chatbot": {"agents": {"career_chat": {}}}})
    stop = await career_chat.with_options(config=config).say("Hello")
    assert script.count(tool=TRANSFER) == 1
    assert stop.outcome["text"] == "This is a scripted answer."


async def test_a_tool_that_is_hidden_is_no_handover(career_chat: Conversation, script: Script) -> None:
    script.on(label=CAREER_CHAT, tool="get_jobs_tool").reply(call(TRANSFER), say("ANSWER"))
    stop = await career_chat.say(QUESTION)
    assert isinstance(stop.messages[2], ToolMessage)
    assert stop.messages[2].status == "error"
    assert stop.values["handed_over"] is False
    assert script.count(label=KNOWLEDGE) == 0


async def test_a_call_beside_the_handover_is_rejected_with_it(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    """Also where calls run side by side: what the other one showed would be left behind."""
    await add_knowledge(database, FACT)
    await add_training(database, "t1", title="Python")
    hand_over(script, SUPPORTED)
    batch = call_all(("get_trainings_tool", {"training_ids": ["t1"]}), (TRANSFER, {}))
    script.on(label=CAREER_CHAT, tool=TRANSFER).reply(batch, call(TRANSFER))
    stop = await career_chat.with_options(interactions=False).say(QUESTION)
    rejected = [message for message in stop.messages if isinstance(message, ToolMessage)][:2]
    assert {(message.status, message.text) for message in rejected} == {("error", REJECTION)}
    assert stop.outcome["text"] == "Three days a week."
    assert stop.outcome["cards"] == []
    assert_whole_pairs(stop.messages)


async def test_the_same_handover_twice_is_one(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, SUPPORTED)
    script.on(label=CAREER_CHAT, tool=TRANSFER).reply(call_all((TRANSFER, {}), (TRANSFER, {"query": "secret"})))
    stop = await career_chat.with_options(interactions=False).say(QUESTION)
    assert stop.outcome["text"] == "Three days a week."
    assert [type(message) for message in stop.messages] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert script.count(label=SYNTHESIS) == 1
    assert_whole_pairs(stop.messages)


async def test_what_was_read_and_shown_before_stays_with_the_turn(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    """A card of a mixed batch, and the pair of a profile that was read."""
    await add_knowledge(database, FACT)
    await add_person(database, USER, job_title="Analyst")
    await add_training(database, "t1", title="Python")
    hand_over(script, SUPPORTED)
    profile = ("get_user_profile_selective_tool", {"need_basic_info": True})
    mixed = call_all(("get_trainings_tool", {"training_ids": ["t1"]}), profile)
    script.on(label=CAREER_CHAT, tool=TRANSFER).reply(mixed, call(TRANSFER))
    stop = await career_chat.with_options(interactions=False).say(QUESTION)
    assert [card["type"] for card in stop.outcome["cards"]] == ["trainingSuggestionList"]
    assert stop.outcome["text"] == "Three days a week."
    assert_whole_pairs(stop.messages)


def test_what_a_model_thought_stays_with_the_handover_alone() -> None:
    """Of a batch whose other call was refused: a provider refuses a conversation that holds a reasoning item twice."""
    calls: list[ToolCall] = [
        {"name": name, "args": {}, "id": name, "type": "tool_call"} for name in ("get_jobs_tool", TRANSFER)
    ]
    thought: list[str | dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    caller = AIMessage(content=thought, tool_calls=calls, id="m1")
    refused = ToolMessage("No.", name="get_jobs_tool", tool_call_id="get_jobs_tool", status="error")
    update = record_handover([caller, refused], TRANSFER, TRANSFER).update
    assert update is not None
    handover = update["handover"]
    kept = [*withdraw_call([caller, refused], handover), handover]
    assert [message.content for message in kept if isinstance(message, AIMessage)] == ["", thought]
    assert [made["id"] for message in kept if isinstance(message, AIMessage) for made in message.tool_calls] == [
        "get_jobs_tool",
        TRANSFER,
    ]


async def test_the_call_has_no_arguments_whatever_the_model_gives(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, SUPPORTED)
    script.on(label=CAREER_CHAT, tool=TRANSFER).reply(call(TRANSFER, query="tell me the salaries"))
    stop = await career_chat.say(QUESTION)
    [made] = [made for message in stop.messages if isinstance(message, AIMessage) for made in message.tool_calls]
    assert (made["name"], made["args"]) == (TRANSFER, {})
    assert "salaries" not in repr(stop.values) + "".join(seen.text for seen in script.requests)


async def test_research_leaves_nothing_of_itself_in_the_thread(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    """Neither its messages nor its evidence, and no checkpoint of its own."""
    await add_knowledge(database, FACT, "Remote work from abroad needs a form named ORCHID.")
    hand_over(script, SUPPORTED)
    script.on(label=KNOWLEDGE).reply(call(SEARCH, query="remote work days form"), say("I THINK IT IS THREE"))
    stop = await career_chat.say(QUESTION)
    assert any("ORCHID" in seen.text for seen in script.seen(label=SYNTHESIS))
    kept = repr(stop.values) + repr(stop.events) + repr(career_chat.saver.blobs) + repr(career_chat.saver.storage)
    for private in ("ORCHID", "I THINK", "remote work days form", SEARCH + "\\", FACT):
        assert private not in repr(stop.values)
        assert private not in repr(stop.events)
        assert private not in kept
    namespaces = {namespace for thread in career_chat.saver.storage.values() for namespace in thread}
    assert all("knowledge" not in namespace for namespace in namespaces)


async def test_comments_on_research_are_fixed_words_in_the_persons_language(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    seen = {}
    for locale in ("en", "fr", "es"):
        hand_over(script, SUPPORTED)
        stop = await career_chat.with_options(locale=locale, thread=locale).say(QUESTION)
        seen[locale] = [event.data["comment"] for event in stop.events if "comment" in event.data]
        assert [name for _, name, status in stop.activities() if not status] == [TRANSFER, SEARCH, "compare_evidence"]
        assert QUESTION not in repr(stop.events)
    assert len(seen["en"]) == 2
    assert len({text for texts in seen.values() for text in texts}) == 6


async def test_cancelling_research_cancels_everything(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_knowledge(database, FACT)
    hand_over(script, SUPPORTED)
    script.on(label=SYNTHESIS).reply(hang())
    running = asyncio.create_task(career_chat.say(QUESTION))
    async with asyncio.timeout(10):
        while not script.count(label=SYNTHESIS):
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_node_without_a_handover_is_a_failure(career_chat: Conversation) -> None:
    from graph.oria.agents.knowledge_base.agent import answer_handover

    with pytest.raises(StageFailedError) as failure:
        await answer_handover({"messages": [], "handover": None}, None)  # type: ignore[arg-type]
    assert failure.value.code == "no_handover"


async def test_a_passage_without_a_public_address_names_its_document_only(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    source_id = await add_source(database)
    location = "s3://internal-bucket/tenant/policies/remote.pdf"
    await add_document(database, source_id, FACT, location=location, anchor="page=2")
    hand_over(script, SUPPORTED)
    stop = await career_chat.say(QUESTION)
    assert stop.outcome["sources"] == [{"title": "Remote work", "url": ""}]
    assert "internal-bucket" not in repr(stop.values)


async def test_a_document_without_any_title_is_named_after_its_file(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    """A plain text has neither title nor heading; where it lies is nobody's business."""
    source_id = await add_source(database)
    await add_document(database, source_id, FACT, location="s3://internal-bucket/tenant/Remote%20rules.txt")
    async with database.transaction() as connection:
        await connection.execute("update knowledge_documents set title = null")
        await connection.execute("update knowledge_chunks set path = '{}', anchor = null")
    hand_over(script, SUPPORTED)
    stop = await career_chat.say(QUESTION)
    assert stop.outcome["sources"] == [{"title": "Remote rules.txt", "url": ""}]
    assert "internal-bucket" not in repr(stop.values) + "".join(seen.text for seen in script.requests)
