"""A refresh that breaks off at each of its requests, one after the other: what follows makes the index whole.

In-process and exhaustive, where test_kills.py is real and random.
"""

import asyncio
from uuid import UUID

import pytest

from tests.support.database import DatabaseUrls, execute
from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import write_page

CUT_SQL = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""
PAGES = 4


def open_site(world: World, edition: str) -> None:
    links = {f"Page {number}": f"/{number}" for number in range(PAGES)}
    world.site.put("/", write_page("Index", f"The {edition} edition.", links=links))
    for number in range(PAGES):
        world.site.put(
            f"/{number}", write_page(f"Page {number}", f"What the {edition} edition says.", f"Rule {number}.")
        )


def find_points(world: World) -> int:
    """How many requests to site and model a whole refresh makes."""
    return len(world.site.requests) + world.script.count(endpoint="embeddings")


# What a lost connection does differs little from point to point.
@pytest.mark.parametrize(("cut", "step"), [("cancelled", 1), ("disconnected", 3)])
async def test_a_refresh_broken_off_at_any_request_is_made_whole_by_the_next(
    world: World, database_urls: DatabaseUrls, cut: str, step: int
) -> None:
    source = await world.add_source()
    open_site(world, "first")
    await world.refresh(source)
    world.forget()
    open_site(world, "second")
    await world.refresh(source)
    whole, points = await world.dump(source), find_points(world)
    assert points > PAGES + 2
    for point in range(1, points + 1, step):
        open_site(world, "first")
        await world.refresh(source)
        open_site(world, "second")
        await break_off(world, source, point, database_urls if cut == "disconnected" else None)
        world.forget()
        assert await world.go_on(source) == "completed"
        assert await world.dump(source) == whole, point
        assert max(world.site.asked().values()) == 1


async def break_off(world: World, source: UUID, point: int, urls: DatabaseUrls | None) -> None:
    """Start a refresh and end it while its request of that number is being answered: cancel it, or cut its connection
    to the database."""
    world.forget()
    gate = world.stop_at(point)
    working = asyncio.create_task(world.refresh(source))
    await asyncio.wait_for(gate.reached.wait(), 20)
    if urls is None:
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        return
    await asyncio.to_thread(execute, urls.owner, CUT_SQL)
    gate.opened.set()
    # Between two transactions a cut connection is noticed before it is used: the refresh goes on.
    assert await working == "completed"
    await world.query("update knowledge_sources set next_refresh_at = now()")
