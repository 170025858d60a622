"""Openings for a development objective: what is found, why, and what is said when there is none."""

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from graph.oria.tools.suggest_opportunities_based_on_objective_tool import FAILURE
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.agents.conftest import USER, Conversation
from tests.integration.search.rows import add_opportunity
from tests.support.people import add_person
from tests.support.scripted_model import Script, call, fail, give, say

TOOL = "suggest_opportunities_based_on_objective_tool"
AGENT = "langgraph.opportunity_search_agent"
RATIONALES = "suggest_opportunities.rationales"
LEAD = {"code": "lead", "label": "Leadership", "level": 2, "weight": 1.0}
OBJECTIVE = {"id": "o-1", "title": "Lead a team", "skills": [{"code": "lead", "label": "Leadership"}]}


@pytest.fixture
def conversation(script: Script, database: TenantDatabase) -> Conversation:
    return Conversation(script, database, "opportunity_search")


async def add_objectives(database: TenantDatabase, *objectives: dict[str, Any]) -> None:
    await add_person(database, USER, job_title="Analyst", location="Lyon", sections={"objectives": list(objectives)})


def suggest(script: Script, *calls: dict[str, Any]) -> None:
    basics = {"objective_id": "o-1", "user_message": "Openings for my objective"}
    script.on(label=AGENT, tool=TOOL).reply(
        *[call(TOOL, **(basics | given)) for given in calls or ({},)], say("ANSWER")
    )


def list_items(card: dict[str, Any]) -> list[str]:
    return [item["id"] for item in card["items"]]


async def test_openings_that_ask_for_a_skill_of_the_objective_are_shown_for_it(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE)
    await add_opportunity(database, "a", title="Team coordinator", skills=[LEAD])
    await add_opportunity(database, "b", title="Lead a team of cooks")
    suggest(script)
    stop = await conversation.say("Openings for my objective")
    [card] = stop.outcome["cards"]
    assert (card["title"], card["subtitle"]) == ("Opportunities for your objective", "Lead a team")
    assert list_items(card) == ["a"]
    assert card["items"][0]["rationale"] == (
        "What fits: skills of your objective: Leadership; words of your objective: team."
    )
    [result] = [message for message in stop.messages if isinstance(message, ToolMessage)]
    assert result.artifact["opportunity_ids"] == ["a"]
    assert json.loads(result.text) == {"for": "Lead a team", "shown": ["Team coordinator"]}
    assert stop.interrupts == []


async def test_an_objective_without_skills_is_searched_by_its_words(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE | {"skills": []})
    await add_opportunity(database, "b", title="Lead a team of cooks")
    await add_opportunity(database, "c", title="Accounting")
    suggest(script)
    stop = await conversation.say("Openings for my objective")
    assert list_items(stop.outcome["cards"][0]) == ["b"]


async def test_rationales_are_phrased_for_the_objective(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE)
    await add_opportunity(database, "a", title="Coordinator", description="Hidden text", skills=[LEAD])
    suggest(script)
    phrased = "It asks for Leadership, which your objective is about."
    script.on(label=RATIONALES).reply(give({"rationales": [{"number": 1, "text": phrased}]}))
    stop = await conversation.say("Openings for my objective")
    assert stop.outcome["cards"][0]["items"][0]["rationale"] == phrased
    [request] = script.seen(label=RATIONALES)
    assert "Lead a team" in request.text
    assert "Hidden text" not in request.text


async def test_more_brings_no_repeats_until_nothing_is_left(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE)
    for number in range(7):
        await add_opportunity(database, f"a{number}", title="Coordinator", skills=[LEAD])
    suggest(script, {}, *[{"show_more_opportunities": True}] * 2)
    pages = [await conversation.say("Openings for my objective")] + [await conversation.say("more") for _ in range(2)]
    shown = [list_items(card) for stop in pages for card in stop.outcome["cards"]]
    assert [len(ids) for ids in shown] == [5, 2]
    assert len({*shown[0], *shown[1]}) == 7
    assert "no further opportunities for this objective" in pages[2].outcome["text"]


@pytest.mark.parametrize(
    ("locale", "objective_id", "words"),
    [
        ("en", "unknown", "could not find this objective"),
        ("fr", "unknown", "Je n'ai pas trouvé cet objectif"),
        ("es", "o-1", "ninguna oportunidad para este objetivo"),
    ],
)
async def test_what_is_missing_is_said_in_the_persons_language(
    script: Script, database: TenantDatabase, locale: str, objective_id: str, words: str
) -> None:
    await add_objectives(database, OBJECTIVE)
    await add_opportunity(database, "c", title="Accounting")
    suggest(script, {"objective_id": objective_id})
    stop = await Conversation(script, database, "opportunity_search", locale=locale).say("Openings for my objective")
    assert words in stop.outcome["text"]
    assert stop.outcome["cards"] == []


async def test_the_tenants_filters_hold_for_objectives_too(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE)
    await add_opportunity(database, "near", title="Coordinator", location="Lyon", skills=[LEAD])
    await add_opportunity(database, "far", title="Coordinator", location="Nice", skills=[LEAD])
    suggest(script)
    config = TenantConfig.model_validate({"opportunities": {"same_location": True}})
    stop = await conversation.with_options(config=config).say("Openings for my objective")
    assert list_items(stop.outcome["cards"][0]) == ["near"]


async def test_a_failed_embedding_is_a_stable_error(
    conversation: Conversation, script: Script, database: TenantDatabase
) -> None:
    await add_objectives(database, OBJECTIVE)
    suggest(script)
    script.on(endpoint="embeddings").reply(fail(400))
    stop = await conversation.say("Openings for my objective")
    [result] = [message for message in stop.messages if isinstance(message, ToolMessage)]
    assert (result.text, result.status) == (FAILURE, "error")
