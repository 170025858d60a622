"""Workers killed at random points: the next refresh makes the index a fresh one's, and nobody sees half a document.

Five kills here, 50 with SOAK=1 (`make soak`); SOAK_SEED repeats a run.
"""

import asyncio
import os
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from oria_runtime.db.pool import Pool
from oria_runtime.knowledge.search import search_passages
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.knowledge_refresh import World, open_world
from tests.support.knowledge_site import write_page
from tests.support.refresh_worker import start_worker

KILLS = 50 if os.environ.get("SOAK") else 5
SEED = int(os.environ.get("SOAK_SEED", "20261201"))
PAGES = 12
SECTIONS = 5
MARK = re.compile(r"page (\d+) in version (\d+), part (\d+) of (\d+)")
EXPIRE_SQL = "update knowledge_sources set lease_expires_at = now() - interval '1 second' where lease is not null"
READ_TEXTS_SQL = """
select d.location, d.title, array_agg(c.content order by c.ordinal) as texts, count(v.chunk_id) as vectors
from knowledge_documents d join knowledge_chunks c on c.document_id = d.id
left join knowledge_vectors v on v.chunk_id = c.id
group by d.id
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200 if os.environ.get("SOAK") else 240)]


def put_version(world: World, page: int, version: int, parts: int) -> None:
    sections = "".join(
        f"<h2>Part {part}</h2><p>This is page {page} in version {version}, part {part} of {parts}: "
        f"{'who asks for it writes to the office first. ' * 3}</p>"
        for part in range(1, parts + 1)
    )
    world.site.put(f"/{page}", write_page(f"Page {page}").replace(b"</main>", sections.encode() + b"</main>"))


def change_site(world: World, version: int, chance: random.Random) -> None:
    """Another version of some pages, and another list of them."""
    listed = sorted(chance.sample(range(PAGES), PAGES - 2))
    world.site.put(
        "/", write_page("Index", f"Edition {version}.", links={f"Page {page}": f"/{page}" for page in listed})
    )
    for page in range(PAGES):
        if version == 0 or chance.random() < 0.5:
            put_version(world, page, version, chance.randint(1, SECTIONS))


async def test_after_kills_at_random_points_the_index_is_a_fresh_one(
    world: World, database_urls: DatabaseUrls, pool: Pool
) -> None:
    chance = random.Random(SEED)
    source = await world.add_source()
    change_site(world, 0, chance)
    await world.refresh(source)
    killed = 0
    async with watched(world) as seen:
        for version in range(1, KILLS + 1):
            change_site(world, version, chance)
            killed += await refresh_and_kill(world, source, chance)
            assert await world.go_on(source) == "completed"
            assert describe(await world.dump(source)) == await build_fresh(world, database_urls, pool, version)
    assert killed >= KILLS * 0.8, "the workers were done before they were killed"
    assert seen["looks"] > KILLS


async def refresh_and_kill(world: World, source: UUID, chance: random.Random) -> bool:
    """Kill a worker after a random number of requests of its, and let its lease end; whether it was still at work."""
    await world.query("update knowledge_sources set next_refresh_at = now(), queued_until = null where id = %s", source)
    reached = asyncio.Event()
    world.site.watch(chance.randint(1, PAGES - 3), reached)
    worker = start_worker(world.sandbox.environ, world.message(source))
    await asyncio.wait_for(reached.wait(), 60)
    await asyncio.sleep(chance.uniform(0, 0.03))
    worker.kill()
    await asyncio.to_thread(worker.join)
    await world.query(EXPIRE_SQL)
    return worker.exitcode != 0


async def build_fresh(world: World, urls: DatabaseUrls, pool: Pool, version: int) -> dict[str, Any]:
    """What a tenant's first refresh of the same site makes."""
    tenant = await create_tenant(pool, f"fresh-{version}")
    async with open_world(urls.app, pool, tenant, site=world.site) as fresh:
        source = await fresh.add_source()
        assert await fresh.refresh(source) == "completed"
        return describe(await fresh.dump(source))


def describe(dump: Any) -> dict[str, Any]:
    """An index without its ids, and without documents that are not listed any more: they are in their grace."""
    documents = {row["location"]: row for row in dump["documents"] if row["missing_since"] is None}
    vectors = {row["chunk_id"]: row["embedding"] for row in dump["vectors"]}
    chunks = [
        {name: row[name] for name in row if name != "id"} | {"embedding": vectors[row["id"]]}
        for row in dump["chunks"]
        if row["location"] in documents
    ]
    return {"documents": documents, "chunks": chunks, "aliases": dump["aliases"]}


@asynccontextmanager
async def watched(world: World) -> AsyncIterator[dict[str, int]]:
    """Somebody who reads and searches all the while, and fails when a document is half one version, half another."""
    seen = {"looks": 0}
    ended = asyncio.Event()

    async def look() -> None:
        while not ended.is_set():
            for row in await world.query(READ_TEXTS_SQL):
                check_whole(row["texts"], row["vectors"])
            passages = await search_passages(world.database, words="page version part office", vector=None, index=None)
            for passage in passages:
                assert len({mark[1] for mark in MARK.findall(passage.text)}) <= 1, passage.text
            seen["looks"] += 1
            await asyncio.sleep(0.01)

    looking = asyncio.create_task(look())
    try:
        yield seen
    finally:
        ended.set()
        await looking


def check_whole(texts: list[str], vectors: int) -> None:
    marks = [mark for text in texts for mark in MARK.findall(text)]
    if marks:
        (page,), (version,), (parts,) = ({mark[n] for mark in marks} for n in (0, 1, 3))
        assert [int(mark[2]) for mark in marks] == list(range(1, int(parts) + 1)), (page, version)
        assert vectors == len(texts)
