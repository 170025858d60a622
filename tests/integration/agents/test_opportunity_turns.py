"""Opportunity Search in whole turns: the gate before it, the pause in Postgres, other workers after it."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from graph.oria.tools.opportunities.criteria import NO_CRITERIA
from oria_runtime.errors import InvalidRequestError
from oria_runtime.turns.models import Answer, Turn, TurnStatus
from tests.integration.search.rows import add_opportunity
from tests.support.database import DatabaseUrls
from tests.support.oria_engine import GATE, SUPERVISOR, OriaEngine
from tests.support.scripted_model import Script, call, choose, give, serve_scripted_model

TOOL = "search_opportunities_tool"
AGENT = "langgraph.opportunity_search_agent"


@pytest.fixture
async def oria(database_urls: DatabaseUrls, tenant: UUID, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OriaEngine]:
    async with serve_scripted_model() as script:
        for name, value in script.environ.items():
            monkeypatch.setenv(name, value)
        engine = OriaEngine(database_urls, tenant, script=script)
        yield engine
        await engine.close()


def search_in(script: Script, location: str) -> None:
    criteria = NO_CRITERIA.model_dump() | {"topic": "data", "locations": [location]}
    script.on(label=SUPERVISOR).reply(choose("opportunity_search"))
    script.on(label=AGENT, tool=TOOL).reply(call(TOOL, query=f"Data work in {location}"))
    script.on(label="search_opportunities.criteria").reply(give(criteria))


async def pause(oria: OriaEngine) -> Turn:
    search_in(oria.script, "Paris")
    await add_opportunity(oria.database, "lyon", title="Data work", location="Lyon")
    turn = await oria.run("Data work in Paris please")
    assert turn.status is TurnStatus.AWAITING_INPUT
    return turn


def list_items(turn: Turn) -> list[dict[str, Any]]:
    assert turn.outcome is not None
    return [item for card in turn.outcome["cards"] for item in card["items"]]


async def test_another_worker_goes_on_with_the_cached_search(oria: OriaEngine) -> None:
    turn = await pause(oria)
    changed = NO_CRITERIA.model_dump() | {"locations": ["Lyon"], "dropped": []}
    oria.script.on(label="search_opportunities.change").reply(give(changed))
    await oria.answer(turn, Answer("criteria", option_ids=["o1"]), Answer("change", text="Lyon then"))
    await oria.drain(oria.worker())
    turn = await oria.turn(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert [(item["id"], item["rationale"]) for item in list_items(turn)] == [
        ("lyon", "What fits: location: Lyon; words of your request: data.")
    ]
    assert turn.outcome is not None
    assert turn.outcome["cards"][0]["subtitle"] == "Data work in Paris. Lyon then"
    counts = [oria.script.count(label=label) for label in (SUPERVISOR, AGENT, "search_opportunities.criteria", GATE)]
    assert counts == [1, 1, 1, 2]
    await oria.assert_goes_on()


async def test_an_option_that_was_not_offered_leaves_the_pause_as_it_is(oria: OriaEngine) -> None:
    turn = await pause(oria)
    with pytest.raises(InvalidRequestError):
        await oria.answer(turn, Answer("criteria", option_ids=["locations"]), Answer("change", skip=True))
    assert (await oria.turn(turn.id)).status is TurnStatus.AWAITING_INPUT


async def test_a_cancelled_pause_asks_no_model_and_shows_nothing(oria: OriaEngine) -> None:
    turn = await pause(oria)
    asked = len(oria.script.requests)
    await oria.answer(turn, cancel=True)
    await oria.drain(oria.worker())
    assert (await oria.turn(turn.id)).status is TurnStatus.CANCELLED
    assert len(oria.script.requests) == asked
    await oria.assert_goes_on()
