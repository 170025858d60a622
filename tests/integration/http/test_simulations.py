"""Starting simulations over HTTP: whose they are, which assistant takes one, and what a repetition gives."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.simulations import NewSimulation, store_simulation
from tests.integration.http.conftest import BASE_URL
from tests.integration.http.worker import complete, fail

CARD = {"type": "simulation", "title": "Late again"}
SECRET = "ashamed to ask"


async def suggest(ada: httpx2.AsyncClient, database: TenantDatabase, *, shown: bool = True) -> tuple[str, str]:
    """The id of a simulation that a turn of hers has shown, and that turn's conversation."""
    turn = (await ada.post("/chat", json={"message": "I want to practise"})).json()
    simulation_id = uuid4()
    card = CARD | {"simulation_id": str(simulation_id)}
    simulation = NewSimulation(simulation_id, "ada", turn["id"], "fr", card, {"private": SECRET})
    await store_simulation(database, simulation)
    await (complete if shown else fail)(database, turn["id"])
    return str(simulation_id), turn["conversation_id"]


def body(simulation_id: str | None = None, **values: Any) -> dict[str, Any]:
    return {"assistant": "simulation", "simulation_id": simulation_id} | values


async def test_a_simulation_starts_as_a_conversation_with_its_card(
    ada: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    simulation_id, _ = await suggest(ada, database)
    answer = await ada.post("/conversations", json=body(simulation_id))
    conversation = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{BASE_URL}/v1/conversations/{conversation['id']}"
    assert conversation["simulation"] == CARD | {"simulation_id": simulation_id}
    assert (conversation["assistant"], conversation["locale"], conversation["title"]) == (
        "simulation",
        "fr",
        "Late again",
    )
    assert (await ada.get(f"/conversations/{conversation['id']}")).json() == conversation
    listed = (await ada.get("/conversations")).json()["items"]
    assert [item["simulation"] is None for item in listed] == [False, True]
    turn = await ada.post(f"/conversations/{conversation['id']}/turns", json={"message": "You are late again"})
    assert (turn.status_code, turn.json()["assistant"], turn.json()["locale"]) == (202, "simulation", "fr")


async def test_the_scenario_stays_on_the_server(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    simulation_id, _ = await suggest(ada, database)
    answer = await ada.post("/conversations", json=body(simulation_id))
    path = f"/conversations/{answer.json()['id']}"
    for text in (answer.text, (await ada.get(path)).text, (await ada.get("/conversations")).text):
        assert SECRET not in text


async def test_unknown_and_foreign_simulations_are_the_same(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, namesake: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    mine, _ = await suggest(ada, database)
    never_shown, _ = await suggest(ada, database, shown=False)
    answers = [
        await client.post("/conversations", json=body(simulation_id))
        for client, simulation_id in (
            (ada, str(uuid4())), (ada, "x"), (bob, mine), (namesake, mine), (ada, never_shown)
        )
    ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [404] * 5
    bodies = [{**answer.json(), "request_id": "", "detail": ""} for answer in answers]
    assert all(body == bodies[0] for body in bodies)


@pytest.mark.parametrize("assistant", ["simulation", "oria"])
async def test_the_assistant_and_the_field_go_together(ada: httpx2.AsyncClient, assistant: str) -> None:
    given = {"simulation": {}, "oria": {"simulation_id": str(uuid4())}}[assistant]
    answer = await ada.post("/conversations", json={"assistant": assistant, **given})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/simulation_id")


async def test_a_chat_does_not_begin_without_its_simulation(ada: httpx2.AsyncClient) -> None:
    answer = await ada.post("/chat", json={"message": "Hello", "assistant": "simulation"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/assistant")
    assert (await ada.get("/conversations")).json()["items"] == []


async def test_a_repeated_start_gives_the_same_conversation_until_it_is_used(
    ada: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    simulation_id, _ = await suggest(ada, database)
    answers = await asyncio.gather(*(ada.post("/conversations", json=body(simulation_id)) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    first = answers[0].json()["id"]
    await ada.post(f"/conversations/{first}/turns", json={"message": "Hello"})
    again = await ada.post("/conversations", json=body(simulation_id, locale="en"))
    assert (again.status_code, again.json()["locale"]) == (201, "en")
    assert again.json()["id"] != first


async def test_deletion_takes_the_scenario_along(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    simulation_id, suggesting = await suggest(ada, database)
    practice = (await ada.post("/conversations", json=body(simulation_id))).json()["id"]
    await ada.delete(f"/conversations/{suggesting}")
    assert (await ada.post("/conversations", json=body(simulation_id))).status_code == 404
    assert (await ada.get(f"/conversations/{practice}")).json()["simulation"]["title"] == "Late again"
    await ada.delete(f"/conversations/{practice}")
    async with database.transaction() as connection:
        query = "select (select count(*) from simulations) + (select count(*) from conversations) as left"
        row = await (await connection.execute(query.encode())).fetchone()
    assert row == {"left": 0}


async def test_assistants_say_which_needs_a_simulation(ada: httpx2.AsyncClient) -> None:
    listed = (await ada.get("/assistants")).json()["items"]
    assert {item["id"]: item["needs_simulation"] for item in listed} == {
        "oria": False, "sealing": False, "simulation": True
    }  # fmt: skip
