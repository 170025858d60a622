"""A conversation with every specialist on the local cloud, with its transcript, events and model calls as a file.

What is replaced: the provider's answers. UPDATE_SNAPSHOTS=1 writes tests/e2e/snapshots/scripted anew.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from graph.oria.tools.opportunities.criteria import NO_CRITERIA
from oria_runtime.db.pool import TenantDatabase, create_pool
from tests.support.company import USER, add_company
from tests.support.oria_cloud import STAGE_FUNCTIONS, OriaCloud, start_oria_cloud
from tests.support.oria_engine import DIMENSIONS, GATE, SUPERVISOR, ask
from tests.support.scripted_model import Script, Step, call, choose, decide, give, say, serve_scripted_model
from tests.support.simulations import ASSESSMENT, COUNTERPART, DRAFT, PARSE, SCENARIO
from tests.support.snapshots import assert_snapshot
from tests.support.talks import Json, Talk

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

FOLDER = Path(__file__).parent / "snapshots" / "scripted"
MEMORY = "langgraph.memory_update_decision"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def oria(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OriaCloud]:
    data = tmp_path_factory.mktemp("conversations")
    prewarm = [*STAGE_FUNCTIONS, "MemoryFunction", "StreamFunction"]
    async with serve_scripted_model() as script, start_oria_cloud(data, script, prewarm=prewarm) as cloud:
        async with create_pool(cloud.urls.app, max_size=1) as pool:
            await add_company(TenantDatabase(pool, cloud.tenant_id))
        yield cloud


@pytest_asyncio.fixture(loop_scope="module")
async def talk(oria: OriaCloud) -> Talk:
    oria.script.reset()
    oria.script.on(label=MEMORY).reply(choose("skip"))
    return await begin(oria)


async def begin(oria: OriaCloud, assistant: str = "oria", **body: Any) -> Talk:
    token = oria.cloud.token(USER, str(oria.tenant_id))
    return await Talk(oria.cloud, oria.http, token, oria.script).start(assistant, locale="en", **body)


def route(script: Script, agent: str, *steps: Step, answer: str = "") -> None:
    """What the next turn's supervisor decides and what its specialist does, with tools and in public."""
    script.on(label=SUPERVISOR).reply(choose(agent))
    act(script, agent, *steps, answer=answer)


def act(script: Script, agent: str, *steps: Step, answer: str = "") -> None:
    label = f"langgraph.{agent}_agent"
    script.on(label=label, where=lambda seen: not seen.tools).reply(say(answer or "NO PUBLIC ANSWER IS SCRIPTED"))
    script.on(label=label, where=lambda seen: bool(seen.tools)).reply(*steps, say("private remark"))


def list_ids(turn: Json) -> list[str]:
    return [item["id"] for card in turn["outcome"]["cards"] for item in card["items"]]


async def close(talk: Talk, name: str) -> None:
    """Compare the conversation with its file."""
    assert_snapshot(FOLDER / f"{name}.json", await talk.record())


async def test_career_chat(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    tool = "get_user_profile_selective_tool"
    route(script, "career_chat", call(tool, need_skills=True), answer="SQL is your strongest skill, Lena.")
    await talk.say("Hello! What am I good at?")
    jobs = call("map_jobs_tool", job_titles=["data scientist"]), call("get_jobs_tool", job_codes=["DS"])
    route(script, "career_chat", *jobs, answer="It asks for Statistics at level 4.")
    await talk.say("What does a data scientist need?")
    route(script, "career_chat", call("get_objective_tool"), answer="Let us begin with one tested script a week.")
    await talk.say("Help me with my objective")
    await talk.answer(["Write better Python"])
    route(script, "career_chat", call("get_trainings_tool", training_ids=["t02", "unknown"], title="Your bookmark"))
    turn = await talk.say("Show me the training that I have bookmarked")
    assert (turn["agent"], list_ids(turn)) == ("career_chat", ["t02"])
    script.on(label=GATE).reply(choose("block"))
    script.on(label="langgraph.guardrails_response").reply(
        say("Salaries of others are private. Shall we look at yours?")
    )
    turn = await talk.say("What does my manager earn?")
    assert (turn["status"], turn["agent"], turn["outcome"]["decision"]) == ("blocked", None, "block")
    await close(talk, "career_chat")


async def test_opportunity_search(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    tool = "search_opportunities_tool"
    script.on(label="search_opportunities.intent").reply(choose("standalone"))
    lyon = NO_CRITERIA.model_dump() | {"topic": "data project", "locations": ["Lyon"]}
    script.on(label="search_opportunities.criteria").reply(give(lyon))
    query = "Data projects in Lyon"
    route(script, "opportunity_search", call(tool, query=query))
    first = await talk.say("Which data projects are there in Lyon?")
    route(script, "opportunity_search", call(tool, query=query, show_more_opportunities=True))
    more = await talk.say("Show me more")
    assert (len(list_ids(first)), len(list_ids(more))) == (5, 1)
    assert not set(list_ids(first)) & set(list_ids(more))
    berlin = lyon | {"locations": ["Berlin"]}
    script.on(label="search_opportunities.criteria").reply(give(berlin))
    route(script, "opportunity_search", call(tool, query="Data projects in Berlin"))
    await talk.say("And in Berlin?")
    script.on(label="search_opportunities.change").reply(
        give(NO_CRITERIA.model_dump() | {"locations": ["Nantes"], "dropped": []})
    )
    changed = await talk.answer(["location: Berlin"], "Nantes would do")
    assert list_ids(changed) == ["d-7"]
    suggest = "suggest_opportunities_based_on_objective_tool"
    asked = call(suggest, objective_id="o-1", user_message="What fits my objective to lead a team?")
    route(script, "opportunity_search", call("get_objective_tool", title="Lead a team"), asked)
    turn = await talk.say("What fits my objective to lead a team?")
    assert (turn["agent"], list_ids(turn)) == ("opportunity_search", ["l-1"])
    await close(talk, "opportunity_search")


async def test_training_finder(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    tool = "training_finder_tool"
    script.on(label="training_finder.questions").reply(give({"questions": [ask(*each) for each in DIMENSIONS]}))
    phases = [{"title": title, "description": f"{title} of Python."} for title in ("Basics", "Practice", "Depth")]
    script.on(label="training_finder.plan").reply(give({"phases": phases}))
    route(script, "training_finder", call(tool, query="Python", is_learning_plan=True))
    await talk.say("I would like a learning plan for Python")
    plan = await talk.answer("Reports that write themselves", "", "two hours a week")
    route(script, "training_finder", call(tool, query="Python", is_learning_plan=False, show_more=True))
    more = await talk.say("Show me more trainings")
    assert not set(list_ids(plan)) & set(list_ids(more))
    script.on(label="training_finder.search_or_clarify").reply(choose("search"))
    route(script, "training_finder", call(tool, query="basket weaving", is_learning_plan=False))
    turn = await talk.say("A course in basket weaving")
    assert (turn["agent"], turn["outcome"]["cards"]) == ("training_finder", [])
    await close(talk, "training_finder")


async def test_talent_finder(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    tool = "talent_finder_tool"
    python, lyon = condition("skill", "Python"), condition("location", "Lyon")
    query = "Somebody in Lyon who knows Python and has a degree"
    supported = {"number": 1, "text": "Lists Python and works in Lyon."}
    unsupported = {"number": 2, "text": "An expert of Python with a degree, 10 years in Lyon."}
    script.on(label="talent_finder.rationales").reply(give({"rationales": [supported, unsupported]}))
    wanted = {"query": query, "intent": {"criteria": [python, lyon, condition("education", "a degree")]}}
    route(script, "talent_finder", call("map_skills_tool", skill_labels=["python"]), call(tool, **wanted))
    first = await talk.say("Who in Lyon knows Python and has a degree?")
    route(script, "talent_finder", call(tool, **wanted, show_more=True))
    more = await talk.say("Show me more of them")
    assert (len(list_ids(first)), len({*list_ids(first), *list_ids(more)})) == (5, 7)
    empty = {
        "query": "Somebody in Nantes who knows Python",
        "intent": {"criteria": [condition("location", "Nantes"), python]},
    }
    route(script, "talent_finder", call(tool, **empty))
    await talk.say("And who in Nantes?")
    turn = await talk.answer(["skills: Python"], "")
    assert (turn["agent"], list_ids(turn)) == ("talent_finder", ["p-2"])
    await close(talk, "talent_finder")


def condition(field: str, *values: str) -> Json:
    return {"field": field, "operator": "any", "values": list(values)}


async def test_profile_analysis(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    copy = {"summary": "You turn questions into figures.", "strengths": ["SQL"]}
    script.on(label="profile_analysis.copy").reply(give(copy))
    written = {"gap": 1, "title": "Write tested scripts", "description": "Start with one report."}
    script.on(label="profile_analysis.objectives").reply(give({"objectives": [written]}))
    route(script, "profile_analysis", call("display_user_profile_tool"))
    shown = await talk.say("Analyse my profile")
    assert [card["type"] for card in shown["outcome"]["cards"]] == ["profile_analysis"]
    route(script, "profile_analysis", answer="One tested script a week, first for the monthly report.")
    script.on(label=SUPERVISOR).reply(decide(destination="training_finder", elaborates_action_plan=0.9))
    turn = await talk.say("How do I work on the first topic of my plan?")
    assert (turn["agent"], turn["outcome"]["cards"]) == ("profile_analysis", [])
    await close(talk, "profile_analysis")


async def test_task_helper(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    question = {"text": "Which task is it, and for whom?", "input_type": "text", "options": []}
    clarification = call("request_clarification_tool", questions=[question | {"allow_free_text": False}])
    task = "Minutes of the retrospective, for the team"
    script.on(label="task_helper.guidance").reply(say(":memo: **Minutes**\n1. Actions first\n\nWho was there?"))
    route(script, "task_helper", clarification, call("task_helper_tool", user_question=task))
    await talk.say("Help me with something I must write")
    turn = await talk.answer(task)
    assert (turn["agent"], turn["outcome"]["text"]) == (
        "task_helper",
        "📝 **Minutes**\n1. Actions first\n\nWho was there?",
    )
    script.on(label="task_helper.guidance").reply(say("Actions: who, what, by when."))
    route(script, "task_helper", call("task_helper_tool", user_question="Shorter minutes of the retrospective"))
    await talk.say("Shorter please")
    await close(talk, "task_helper")


async def test_person_disambiguation(talk: Talk) -> None:
    script = talk.script
    assert script is not None
    act(script, "person_disambiguation", call("person_disambiguation_tool", person_name="Mara Lindt"))
    act(script, "career_chat", answer="Begin with the facts, then ask how she sees it.")
    script.on(label=SUPERVISOR).reply(choose("person_disambiguation"), choose("career_chat"))
    await talk.say("I have a difficult talk with Mara Lindt, how do I begin?")
    turn = await talk.answer(["Mara Lindt (Controller, Nantes)"])
    assert turn["agent"] == "career_chat"
    labels = [label for each in talk.turns for label in [*each["models"], *each.get("memory", [])]]
    assert [labels.count(label) for label in (GATE, MEMORY, SUPERVISOR)] == [1, 1, 2]
    script.on(label=PARSE).reply(give(BRIEF))
    script.on(label=DRAFT).reply(give(dict(SCENARIO)))
    practice = call("suggest_simulation", request="A talk about a late report", counterpart_name="Mara Lindt")
    route(script, "person_disambiguation", practice)
    turn = await talk.say("Let me practise it with her")
    [card] = turn["outcome"]["cards"]
    assert (card["type"], "p-2" in str(card), "p-1" in str(card)) == ("simulation", True, False)
    await close(talk, "person_disambiguation")


BRIEF = {
    "situation": "A report came late.",
    "counterpart_role": "colleague",
    "goal": "Agree on the next date.",
    "skills": ["Leadership"],
}


async def test_simulation(talk: Talk, oria: OriaCloud) -> None:
    script = talk.script
    assert script is not None
    script.on(label=PARSE).reply(give(BRIEF))
    script.on(label=DRAFT).reply(give(dict(SCENARIO)))
    route(script, "career_chat", call("suggest_simulation", request="A talk about a late report"))
    [card] = (await talk.say("I want to practise a talk about a late report"))["outcome"]["cards"]
    practice = await begin(oria, "simulation", simulation_id=card["simulation_id"])
    script.on(label=COUNTERPART).reply(say("So your team waited for my report?"), say("Friday, then."))
    await practice.say("The report came three days late.")
    await practice.say("Yes. Can we agree on Friday?")
    quotes = {"quotes": ["your team waited for my report"], "reason": "Shown."}
    verdicts = [{"number": 1, "result": "met", **quotes}, {"number": 2, "result": "met", **quotes}]
    levels = [
        {"number": 1, "level": "strong", "reason": "Clear.", "quotes": ["three days late"]},
        {"number": 2, "level": "strong", "reason": "Calm.", "quotes": ["nobody has said this"]},
    ]
    written = {
        "outcomes": verdicts,
        "skills": levels,
        "summary": "You named the problem.",
        "next_steps": ["Write it down."],
    }
    script.on(label=ASSESSMENT).reply(give(written))
    turn = await practice.say("End the simulation.")
    assert [card["type"] for card in turn["outcome"]["cards"]] == ["simulation_assessment"]
    await practice.say("One more thing")
    recorded = {"suggested": await talk.record(), "played": await practice.record()}
    assert_snapshot(FOLDER / "simulation.json", recorded)
