"""Refreshing pages that link to each other."""

from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import write_page

LEAVE = "Every employee has thirty days of paid leave in a year, and may carry five of them over."
TRAVEL = "Trips are booked through the travel desk, at least two weeks before they begin."


def open_handbook(world: World) -> None:
    world.site.put(
        "/", write_page("Handbook", "Everything about working here.", links={"Leave": "/leave", "Travel": "/travel"})
    )
    world.site.put("/leave", write_page("Leave", LEAVE))
    world.site.put("/travel", write_page("Travel", TRAVEL, links={"Home": "/"}))


async def test_a_first_refresh_indexes_every_linked_page_once(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    documents = await world.documents(source)
    assert {path: row["status"] for path, row in documents.items()} == {
        "/": "indexed",
        "/leave": "indexed",
        "/travel": "indexed",
    }
    assert world.site.asked() == {"/": 1, "/leave": 1, "/travel": 1}
    assert any(LEAVE in text for text in await world.chunks(source, "/leave"))
    counts = await world.counts(source)
    assert counts["new"] == 3
    assert counts["embedded"] == counts["chunks"] == len((await world.dump(source))["vectors"])


async def test_an_unchanged_source_costs_one_request_a_document_and_no_embedding(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.site.requests.clear()
    world.script.reset()
    assert await world.refresh(source) == "completed"
    assert await world.dump(source) == before
    assert world.site.asked() == {"/": 1, "/leave": 1, "/travel": 1}
    assert world.embedded() == []
    assert await world.counts(source) == {"unchanged": 3}
