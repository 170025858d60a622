"""What specialists send to models, as reviewed files (UPDATE_SNAPSHOTS=1 writes them anew), and how it is bounded."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from graph.oria.tools.opportunities.criteria import NO_CRITERIA
from oria_runtime.db.pool import TenantDatabase
from tests.integration.agents.conftest import USER, Conversation, list_sent
from tests.integration.search.rows import add_opportunity
from tests.support.candidates import add_candidate
from tests.support.knowledge import add_knowledge, add_source, serve_site, write_links, write_page
from tests.support.people import add_person
from tests.support.scripted_model import Script, Seen, call, choose, decide, give, hang, say
from tests.support.snapshots import assert_snapshot
from tests.support.trainings import add_training

SNAPSHOTS = Path(__file__).parent / "snapshots"
FINDER = "training_finder_tool"


def show(seen: Seen) -> dict[str, Any]:
    """The parts of a request that people review."""
    names = ("messages", "input", "questions", "tools", "text", "response_format", "parallel_tool_calls")
    return {"endpoint": seen.endpoint, "label": seen.label} | {
        name: seen.body[name] for name in names if name in seen.body
    }


async def test_requests_of_career_chat(career_chat: Conversation, script: Script, database: TenantDatabase) -> None:
    await add_person(database, USER, job_title="Analyst")
    await career_chat.with_options(locale="fr").say("Bonjour", summary="They want to lead a team.")
    assert_snapshot(SNAPSHOTS / "career_chat.json", [show(request) for request in script.requests])


async def test_requests_of_career_chat_without_profile_and_interactions(
    career_chat: Conversation, script: Script
) -> None:
    await career_chat.with_options(interactions=False).say("Hello")
    assert_snapshot(SNAPSHOTS / "career_chat_bare.json", [show(request) for request in script.requests])


async def test_requests_of_a_learning_plan(
    training_finder: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_training(database, "t1", title="Python", duration_minutes=60)
    script.on(tool=FINDER).reply(call(FINDER, query="A plan for Python", is_learning_plan=True))
    question = {"text": "What for?", "input_type": "text", "options": [], "allow_free_text": False}
    script.on(label="training_finder.questions").reply(give({"questions": [question | {"dimension": "target"}]}))
    await training_finder.say("A plan for Python")
    script.on(label="training_finder.plan").reply(give({"phases": [{"title": "Start", "description": "First."}]}))
    await training_finder.answer({"text": "Reports"})
    assert_snapshot(
        SNAPSHOTS / "learning_plan.json", [show(seen) for seen in script.requests if seen.endpoint != "embeddings"]
    )


async def test_requests_of_a_learning_plan_without_native_decisions(
    training_finder: Conversation, script: Script
) -> None:
    from oria_runtime.tenancy.tenants import TenantConfig

    config = TenantConfig.model_validate({"models": {"mini": {"decisions": "structured"}}})
    script.on(tool=FINDER).reply(call(FINDER, query="A plan", is_learning_plan=True), say("ANSWER"))
    await training_finder.with_options(config=config).say("A plan")
    assert_snapshot(SNAPSHOTS / "learning_plan_structured.json", show(script.seen(label="training_finder.scope")[0]))


async def test_requests_of_an_uninterpretable_search(training_finder: Conversation, script: Script) -> None:
    script.on(tool=FINDER).reply(call(FINDER, query="that", is_learning_plan=False))
    script.on(endpoint="decisions").reply(choose("clarify"))
    await training_finder.say("that")
    assert_snapshot(
        SNAPSHOTS / "search_or_clarify.json", [show(seen) for seen in script.seen(label="training_finder.*")]
    )


async def test_requests_of_an_opportunity_search(script: Script, database: TenantDatabase) -> None:
    await add_person(database, USER, job_title="Analyst", location="Lyon")
    tool = "search_opportunities_tool"
    script.on(tool=tool).reply(call(tool, query="Projects near me"))
    script.on(label="search_opportunities.intent").reply(choose("profile"))
    lyon, paris = (NO_CRITERIA.model_dump() | {"locations": [place]} for place in ("Lyon", "Paris"))
    script.on(label="search_opportunities.criteria").reply(give(lyon))
    script.on(label="search_opportunities.change").reply(give(paris | {"dropped": []}))
    conversation = Conversation(script, database, "opportunity_search")
    await conversation.say("Projects near me", summary="They like data.")
    await add_opportunity(database, "a", title="Analyst of data", location="Paris")
    await conversation.answer({"option_ids": ["o1"]}, {"text": "Paris then"})
    assert_snapshot(
        SNAPSHOTS / "opportunity_search.json", [show(seen) for seen in script.requests if seen.endpoint != "embeddings"]
    )


async def test_requests_of_a_profile_analysis(script: Script, database: TenantDatabase) -> None:
    gaps = [{"code": "py", "label": "Python", "level": 2, "target_level": 4}]
    skills = [{"code": "py", "label": "Python", "level": 2}]
    await add_person(database, USER, job_title="Analyst", sections={"skills": skills, "gaps": gaps})
    script.on(tool="display_user_profile_tool").reply(call("display_user_profile_tool"))
    await Conversation(script, database, "profile_analysis", locale="fr").say("Analyse mon profil")
    # The parts are written at the same time, so that their requests come in any order.
    ordered = sorted(script.requests, key=lambda seen: seen.label)
    assert_snapshot(SNAPSHOTS / "profile_analysis.json", [show(request) for request in ordered])


async def test_requests_of_a_task(script: Script, database: TenantDatabase) -> None:
    await add_person(database, USER, job_title="Analyst")
    task_helper = Conversation(script, database, "task_helper")
    script.on(tool="task_helper_tool").reply(call("task_helper_tool", user_question="An agenda for the kick-off"))
    await task_helper.say("An agenda for the kick-off, please")
    assert_snapshot(SNAPSHOTS / "task_helper.json", [show(request) for request in script.requests])
    script.reset()
    await task_helper.with_options(interactions=False, thread="another").say("Help me")
    assert_snapshot(SNAPSHOTS / "task_helper_bare.json", [show(request) for request in script.requests])


async def test_requests_of_a_talent_search(script: Script, database: TenantDatabase) -> None:
    await add_candidate(database, "p-1", job_title="Analyst", location="Lyon")
    talent = Conversation(script, database, "talent_finder")
    lyon, berlin = ({"field": "location", "operator": "any", "values": [town]} for town in ("Lyon", "Berlin"))
    script.on(tool="talent_finder_tool").reply(
        call("talent_finder_tool", query="An analyst in Lyon", intent={"criteria": [lyon]}),
        call("talent_finder_tool", query="An analyst in Berlin", intent={"criteria": [berlin]}),
    )
    script.on(label="talent_finder.change").reply(give({"criteria": [berlin]}))
    await talent.say("An analyst in Lyon")
    await talent.say("And in Berlin?")
    await talent.answer({"skip": True}, {"text": "Berlin it must be"})
    agents = [seen for seen in script.requests if seen.label.startswith("langgraph")]
    own = script.seen(label="talent_finder.*", endpoint="chat")
    assert_snapshot(SNAPSHOTS / "talent_search.json", [show(seen) for seen in (agents[0], *own)])


async def test_requests_of_a_person_look_up(script: Script, database: TenantDatabase) -> None:
    people = Conversation(script, database, "person_disambiguation")
    await people.say("Prepare a talk with Ada Byron", requested_agent="person_disambiguation")
    assert_snapshot(SNAPSHOTS / "person_look_up.json", [show(seen) for seen in script.requests])


def old_turn(number: int) -> list[AnyMessage]:
    tool_call = {"name": "get_user_profile_selective_tool", "args": {}, "id": f"c{number}", "type": "tool_call"}
    return [
        HumanMessage(f"Question {number}", id=f"h{number}"),
        AIMessage("", id=f"a{number}", tool_calls=[tool_call]),
        ToolMessage("x" * 3_000, id=f"t{number}", name=tool_call["name"], tool_call_id=f"c{number}"),
        AIMessage(f"Answer {number}", id=f"e{number}"),
    ]


async def test_long_conversations_are_cut_in_the_request_and_whole_in_the_state(
    career_chat: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_person(database, USER, job_title="Analyst")
    history = [message for number in range(14) for message in old_turn(number)]
    career_chat.context = career_chat.build_context("Latest")
    turn_id = str(career_chat.context.turn.id)
    given = [*history, HumanMessage("Latest", id=turn_id)]
    stop = await career_chat.run({"messages": given, "turn_id": turn_id, "summary": "Earlier things."})
    assert [message.text for message in stop.messages[:-1]] == [message.text for message in given]
    for request in script.requests:
        sent = [message for message in list_sent(request) if message["role"] not in {"system", "developer"}]
        assert "Earlier things." in str(sent[0])
        assert len(sent) <= 31
        assert request.text.count("[cleared]") == request.text.count("x" * 3_000) + 1 == 4
        assert "Question 0" not in request.text
        assert "Latest" in str(sent[-1])
    assert count_tokens_approximately(given) > 8_000


async def test_searches_of_other_agents_leave_the_request_and_stay_in_the_state(
    career_chat: Conversation, script: Script
) -> None:
    def search(name: str) -> list[AnyMessage]:
        tool_call = {"name": name, "args": {"query": f"words of {name}"}, "id": f"c-{name}", "type": "tool_call"}
        return [
            HumanMessage(f"Asking for {name}", id=f"h-{name}"),
            AIMessage("", id=f"a-{name}", tool_calls=[tool_call]),
            ToolMessage(f"found by {name}", id=f"t-{name}", name=name, tool_call_id=tool_call["id"]),
            AIMessage(f"Shown by {name}", id=f"e-{name}"),
        ]

    career_chat.context = career_chat.build_context("Latest")
    turn_id = str(career_chat.context.turn.id)
    names = ["talent_finder_tool", "search_opportunities_tool", "get_trainings_tool"]
    given = [*(message for name in names for message in search(name)), HumanMessage("Latest", id=turn_id)]
    stop = await career_chat.run({"messages": given, "turn_id": turn_id})
    sent = str(list_sent(script.requests[0]))
    for name in names:
        own = name == "get_trainings_tool"
        assert (f"words of {name}" in sent, f"found by {name}" in sent) == (own, own)
        assert f"Shown by {name}" in sent
    assert stop.messages[:-1] == given


@pytest.mark.parametrize("label", ["langgraph.training_finder_agent", "training_finder.scope", "training_finder.plan"])
async def test_cancellation_passes_through_everything(
    training_finder: Conversation, script: Script, database: TenantDatabase, label: str
) -> None:
    await add_training(database, "t1", title="Python", duration_minutes=60)
    script.on(tool=FINDER).reply(call(FINDER, query="Python", is_learning_plan=True))
    script.on(label="training_finder.scope").reply(decide(skip=1.0))
    script.on(label=label).reply(hang())
    running = asyncio.create_task(training_finder.say("Python"))
    async with asyncio.timeout(10):
        while not script.count(label=label):
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_requests_of_research(career_chat: Conversation, script: Script, database: TenantDatabase) -> None:
    """A question that refers to an earlier one: all of the loop, the synthesis, and what comes back as a miss."""
    pages: dict[str, str | int] = {
        "/": write_page("Intranet", "<p>Welcome.</p>" + write_links({"/remote": "remote work"})),
        "/remote": write_page("Remote work", '<p>Three days.</p><h2 id="abroad">From abroad</h2><p>Ask first.</p>'),
    }
    await add_knowledge(database, "Remote work from abroad needs an approval.")
    read = call("read_knowledge_page", page_id="page-2", section_id="s2")
    script.on(label="*.career_chat_agent", tool="transfer_to_knowledge_base").reply(
        say("ANSWER"), call("transfer_to_knowledge_base")
    )
    script.on(label="*.knowledge_base_agent").reply(
        call("search_knowledge_sources", query="remote work from abroad"), read, say("DONE")
    )
    script.on(label="knowledge_base.synthesis").reply(give({"status": "miss", "answer": "", "citations": []}))
    async with serve_site(pages) as site:
        await add_source(database, f"{site.url}/", name="Intranet")
        await career_chat.say("How many days of remote work are there?")
        script.requests.clear()
        await career_chat.say("No, I mean from abroad")
    shown = [show(seen) for seen in script.requests if seen.endpoint != "embeddings"]
    assert_snapshot(SNAPSHOTS / "knowledge_research.json", hide_ids(shown[1:]))


def hide_ids(value: Any) -> Any:
    """Ids of calls are random."""
    if isinstance(value, dict):
        return {key: "call" if key in {"call_id", "id"} else hide_ids(entry) for key, entry in value.items()}
    return [hide_ids(entry) for entry in value] if isinstance(value, list) else value
