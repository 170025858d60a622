"""The conversations of `make run` without a key: every specialist on the sample tenant with the offline model.

Nothing is replaced. The offline model is deterministic; UPDATE_SNAPSHOTS=1 writes tests/e2e/snapshots/offline anew.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import pytest_asyncio

from local.cloud.cloud import LocalCloud
from local.cloud.options import CloudOptions
from tests.support.oria_cloud import STAGE_FUNCTIONS
from tests.support.snapshots import assert_snapshot
from tests.support.talks import Json, Talk

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

FOLDER = Path(__file__).parent / "snapshots" / "offline"


@dataclass
class Northwind:
    """The sample tenant in a running cloud; Amira Haddad talks."""

    cloud: LocalCloud
    http: httpx2.AsyncClient

    async def start(self, assistant: str = "oria", **body: Any) -> Talk:
        return await Talk(self.cloud, self.http, self.cloud.token()).start(assistant, locale="en", **body)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def northwind(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Northwind]:
    options = CloudOptions(
        data=tmp_path_factory.mktemp("northwind"),
        offline_model=True,
        throwaway=True,
        schedules=False,
        prewarm=[*STAGE_FUNCTIONS, "MemoryFunction", "StreamFunction"],
    )
    async with LocalCloud(options) as cloud, httpx2.AsyncClient(timeout=60) as http:
        assert cloud.database_urls is not None
        with psycopg.connect(cloud.database_urls.owner, autocommit=True) as connection:
            # Openings close as the calendar goes on, and would leave the files.
            connection.execute("update oria.opportunities set closes_on = null")
        yield Northwind(cloud, http)


@pytest_asyncio.fixture(loop_scope="module")
async def talk(northwind: Northwind) -> Talk:
    return await northwind.start()


def assert_shows(turn: Json, agent: str | None, *card_types: str) -> None:
    """The turn is complete, of this agent, with cards of these types."""
    shown = [card["type"] for card in turn["outcome"]["cards"]]
    assert (turn["status"], turn["agent"], shown) == ("completed", agent, list(card_types))


def assert_no_repeats(first: Json, more: Json) -> None:
    shown = [{item["id"] for card in turn["outcome"]["cards"] for item in card["items"]} for turn in (first, more)]
    assert all(shown)
    assert not shown[0] & shown[1]


async def close(talk: Talk, name: str) -> None:
    """Compare the conversation with its file."""
    assert_snapshot(FOLDER / f"{name}.json", await talk.record())


async def test_career_chat(talk: Talk) -> None:
    await talk.say("Hello! What can you do for me?")
    turn = await talk.say("What are my strongest skills?")
    assert_shows(turn, "career_chat")
    assert "get_user_profile_selective_tool" in str(talk.turns[-1]["events"])
    await close(talk, "career_chat")


async def test_opportunity_search(talk: Talk) -> None:
    await talk.say("Projects about forecasting in Tokyo")
    found = await talk.answer(["location: Tokyo"], "")
    assert_shows(found, "opportunity_search", "opportunitySuggestionList")
    await talk.say("Which opportunities fit my objective to become a data scientist?")
    first = await talk.answer(["Become the data scientist for volume forecasting"])
    assert_shows(first, "opportunity_search", "opportunitySuggestionList")
    more = await talk.say("Show me more opportunities for this objective")
    assert_shows(more, "opportunity_search", "opportunitySuggestionList")
    assert_no_repeats(first, more)
    await close(talk, "opportunity_search")


async def test_training_finder(talk: Talk) -> None:
    await talk.say("I would like a learning plan for my next role")
    plan = await talk.answer("I know SQL and a little Python", "two hours a week", "")
    assert_shows(plan, "training_finder", "trainingSuggestionList")
    more = await talk.say("Show me more trainings")
    assert_shows(more, "training_finder", "trainingSuggestionList")
    assert_no_repeats(plan, more)
    await close(talk, "training_finder")


async def test_talent_finder(talk: Talk) -> None:
    first = await talk.say("Which colleagues in Hamburg work in safety and quality?")
    assert_shows(first, "talent_finder", "talentSuggestionList")
    more = await talk.say("Show me more people")
    assert_shows(more, "talent_finder", "talentSuggestionList")
    assert_no_repeats(first, more)
    await talk.say("Who in Tokyo knows Python?")
    assert_shows(await talk.answer(["location: Tokyo"], ""), "talent_finder", "talentSuggestionList")
    await close(talk, "talent_finder")


async def test_profile_analysis(talk: Talk) -> None:
    assert_shows(await talk.say("Analyse my profile"), "profile_analysis", "profile_analysis")
    assert_shows(await talk.say("How do I work on the first topic of my plan?"), "profile_analysis")
    await close(talk, "profile_analysis")


async def test_task_helper(talk: Talk) -> None:
    turn = await talk.say("Help me write an email to my manager about moving our weekly meeting to Tuesday")
    assert_shows(turn, "task_helper")
    assert "task_helper_tool" in str(talk.turns[-1]["events"])
    await close(talk, "task_helper")


async def test_person_disambiguation(talk: Talk) -> None:
    await talk.say("I want to practise a talk with Thomas Becker about a late delivery")
    turn = await talk.answer(["Thomas Becker (Fleet manager, Fleet and Maintenance, Hamburg)"])
    assert_shows(turn, "person_disambiguation", "simulation")
    [card] = turn["outcome"]["cards"]
    assert card["counterpart"]["person_id"] == "thomas.becker"
    await close(talk, "person_disambiguation")


async def test_simulation(northwind: Northwind, talk: Talk) -> None:
    turn = await talk.say("I want to practise giving feedback to a colleague who delivers late")
    assert_shows(turn, "career_chat", "simulation")
    practice = await northwind.start("simulation", simulation_id=turn["outcome"]["cards"][0]["simulation_id"])
    assert_shows(await practice.say("Thank you for coming. The last three reports were late."), None)
    assert_shows(await practice.say("What do you need to be on time next week?"), None)
    assert_shows(await practice.say("End the simulation."), None, "simulation_assessment")
    recorded = {"suggested": await talk.record(), "played": await practice.record()}
    assert_snapshot(FOLDER / "simulation.json", recorded)
