"""What the embedding model does to a refresh: refusals, outages, and another model."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import boto3
import pytest

from oria_runtime.knowledge.indexes import (
    Index,
    find_active,
    lock_indexes,
    prepare_indexes,
    read_indexes,
    switch_index,
)
from oria_runtime.knowledge.refresh.due import enqueue_due
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.turns.invocation import Invocation
from tests.support.knowledge_refresh import World, read_input
from tests.support.knowledge_site import render, write_page
from tests.support.model_steps import Seen, embed_with, fail

REFUSED = "forbidden words"


def open_pages(world: World, pages: int = 3) -> None:
    names = [f"/{number}" for number in range(pages)]
    world.site.put("/", write_page("Index", "All pages.", links={name: name for name in names}))
    for name in names:
        world.site.put(name, write_page(f"Page {name}", f"What page {name} says."))


def put_parts(world: World, *texts: str) -> None:
    parts = "".join(f"<h2>Part {number}</h2><p>{text} {'It is a rule. ' * 40}</p>" for number, text in enumerate(texts))
    world.site.put("/1", write_page("Rules").replace(b"</main>", parts.encode() + b"</main>"))


def has(text: str) -> Callable[[Seen], bool]:
    return lambda seen: seen.endpoint == "embeddings" and any(text in each for each in read_input(seen.body))


async def test_a_refused_chunk_is_found_reported_and_left_out_and_not_asked_again(world: World) -> None:
    open_pages(world)
    put_parts(world, "One.", "Two.", REFUSED, "Four.", "Five.")
    world.script.on(where=has(REFUSED)).reply(fail(400))
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    dump = await world.dump(source)
    missing = {row["id"]: row["content"] for row in dump["chunks"]}
    for row in dump["vectors"]:
        missing.pop(row["chunk_id"])
    (text,) = missing.values()
    assert REFUSED in text
    assert (await world.counts(source))["refused_chunks"] == 1
    row = (await world.documents(source))["/1"]
    assert (row["status"], row["warnings"]) == ("indexed", [{"code": "chunks_refused", "count": 1}])
    world.site.requests.clear()
    world.script.requests.clear()
    put_parts(world, "One.", "Two.", REFUSED, "Four.", "Five.", "Six.")
    await world.refresh(source)
    (embedded,) = world.embedded()
    assert "Six." in embedded
    assert (await world.documents(source))["/1"]["warnings"] == [{"code": "chunks_refused", "count": 1}]


async def test_a_vector_without_a_direction_counts_as_refused(world: World) -> None:
    open_pages(world)
    world.script.on(where=has("page /1")).reply(embed_with([[0.0] * 512]))
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    assert (await world.counts(source))["refused_chunks"] == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fail(503, retry_after=0.01), "model_unavailable"),
        (fail(401), "model_access"),
        (fail(400), "model_request"),
        (embed_with([[1.0] * 3072]), "model_malformed"),
    ],
)
async def test_without_its_model_a_refresh_fails_with_a_reason_and_keeps_everything(
    world: World, answer: Any, reason: str
) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.script.on(endpoint="embeddings").reply(answer)
    put_parts(world, "New words.")
    assert await world.refresh(source) == "failed"
    assert (await world.last(source))["error"]["reason"] == reason
    assert await world.dump(source) == before
    world.script.reset()
    assert await world.refresh(source) == "completed"
    assert (await world.counts(source))["changed"] == 1


async def build(world: World, index: UUID, seconds: float = 300.0) -> str:
    message = RefreshMessage(world.database.tenant_id, index_id=index)
    invocation = Invocation("request", time.monotonic() + seconds)
    return await refresh_source(world.sandbox, message, invocation, rng=random.Random(1))


async def read_models(world: World) -> dict[str, str]:
    async with world.database.transaction() as connection:
        return {index.model: index.status for index in await read_indexes(connection)}


async def find_building(world: World) -> UUID:
    (row,) = await world.query("select id from knowledge_indexes where status = 'building'")
    index_id: UUID = row["id"]
    return index_id


async def test_another_model_is_built_beside_the_old_one_and_switched_to_when_complete(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    old = await world.dump(source)
    world.set_environ(EMBEDDING_MODEL="other")
    put_parts(world, "New words.")
    await world.refresh(source)
    assert await read_models(world) == {"small": "active", "other": "building"}
    async with world.database.transaction() as connection:
        active = await find_active(connection)
    assert active is not None
    assert (active.model, active.address["model"]) == ("small", "small")
    # What is swapped meanwhile goes to both, each embedded by its own model.
    asked = {str(seen.body["model"]) for seen in world.script.requests if has("New words.")(seen)}
    assert asked == {"small", "other"}
    assert await build(world, await find_building(world)) == "switched"
    assert await read_models(world) == {"other": "active"}
    dump = await world.dump(source)
    by_model = {
        model: {row["chunk_id"] for row in dump["vectors"] if row["model"] == model} for model in ("small", "other")
    }
    assert by_model["other"] == {row["id"] for row in dump["chunks"]}
    world.script.reset()
    await world.refresh(source)
    assert world.embedded() == []
    assert old["chunks"][0] == dump["chunks"][0]

    (retired,) = await world.query("select id from knowledge_indexes where status = 'retired'")
    assert await build(world, retired["id"]) == "dropped"
    assert {row["model"] for row in (await world.dump(source))["vectors"]} == {"other"}


async def test_a_new_model_that_is_away_does_not_keep_the_active_index_from_being_fresh(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    world.set_environ(EMBEDDING_MODEL="other")
    await world.refresh(source)
    index = await find_building(world)
    put_parts(world, "First words.")
    await world.refresh(source)
    world.script.on(where=lambda seen: seen.body.get("model") == "other").reply(fail(401))
    world.site.put("/1", render("<h2>Part</h2><p>Second words.</p>", title="Retitled"))
    assert await world.refresh(source) == "completed"
    dump = await world.dump(source)
    known = {row["chunk_id"] for row in dump["vectors"] if row["model"] == "small"}
    assert known == {row["id"] for row in dump["chunks"]}
    world.script.reset()
    assert await build(world, index) == "switched"
    dump = await world.dump(source)
    vectors = {row["chunk_id"]: row["embedding"] for row in dump["vectors"] if row["model"] == "other"}
    assert vectors == {row["chunk_id"]: row["embedding"] for row in dump["vectors"] if row["model"] == "small"}


async def test_a_model_that_was_away_is_asked_again_when_its_index_has_become_the_active_one(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    world.set_environ(EMBEDDING_MODEL="other")
    await world.refresh(source)
    index = await find_building(world)
    open_pages(world, 5)
    put_parts(world, "New words.")
    world.site.put("/2", write_page("Page /2", *["A long page of its own. " * 40] * 90))
    arrived, answer = asyncio.Event(), asyncio.Event()
    # Page 2 fills a call of the model, which fails; then the version becomes complete and active.
    world.site.hold("/4", arrived, answer)
    world.script.on(where=lambda seen: seen.body.get("model") == "other").reply(fail(401))
    refreshing = asyncio.create_task(world.refresh(source))
    await asyncio.wait_for(arrived.wait(), 20)
    world.script.reset()
    assert await build(world, index) == "switched"
    answer.set()
    assert await refreshing == "completed"
    dump = await world.dump(source)
    assert {row["chunk_id"] for row in dump["vectors"] if row["model"] == "other"} == {
        row["id"] for row in dump["chunks"]
    }


async def test_an_index_that_becomes_active_while_it_is_to_be_retired_stays(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    (old,) = await world.query("select id, address from knowledge_indexes")
    world.set_environ(EMBEDDING_MODEL="other")
    await world.refresh(source)
    index = await find_building(world)
    async with world.database.transaction() as switching:
        await lock_indexes(switching)
        await switch_index(switching, old["id"], index)
        preparing = asyncio.create_task(prepare(world, "small", old["address"]))
        await asyncio.sleep(0.2)
    assert {index.model: index.status for index in await preparing} == {"other": "active", "small": "building"}


async def prepare(world: World, model: str, address: Any) -> Sequence[Index]:
    async with world.database.transaction() as connection:
        return await prepare_indexes(connection, model, address)


async def test_an_index_version_begun_for_a_model_that_is_configured_no_longer_is_retired(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    for model in ("small", "other", "small"):
        world.set_environ(EMBEDDING_MODEL=model)
        await world.refresh(source)
    assert await read_models(world) == {"small": "active"}


async def test_building_goes_on_where_it_stopped_and_waits_for_its_model(world: World, aws: str) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    world.set_environ(EMBEDDING_MODEL="other", REFRESH_QUEUE_URL=f"{aws}/123456789012/none")
    await world.refresh(source)
    index = await find_building(world)
    world.script.on(endpoint="embeddings").reply(fail(503, retry_after=0.01))
    assert await build(world, index) == "unavailable"
    assert await read_models(world) == {"small": "active", "other": "building"}
    world.script.reset()
    assert await build(world, index) == "switched"
    assert await build(world, index) == "not_claimed"


async def test_a_swap_during_the_build_is_neither_lost_nor_embedded_in_old_words(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    world.set_environ(EMBEDDING_MODEL="other")
    await world.refresh(source)
    index = await find_building(world)
    gate = world.stop_at(1)
    building = asyncio.create_task(build(world, index))
    await asyncio.wait_for(gate.reached.wait(), 20)
    world.site.put("/1", write_page("Another title", "What page /1 says."))
    world.site.put("/2", write_page("Page /2", "Something else."))
    assert await world.refresh(source) == "completed"
    gate.opened.set()
    assert await building == "switched"
    dump = await world.dump(source)
    vectors = {row["chunk_id"]: row["embedding"] for row in dump["vectors"] if row["model"] == "other"}
    assert vectors.keys() == {row["id"] for row in dump["chunks"]}
    # A version that is built with nothing in between has the same vectors.
    world.set_environ(EMBEDDING_MODEL="third")
    await world.refresh(source)
    assert await build(world, await find_building(world)) == "switched"
    rows = (await world.dump(source))["vectors"]
    assert vectors == {row["chunk_id"]: row["embedding"] for row in rows if row["model"] == "third"}


async def test_index_versions_to_go_on_with_are_due_as_sources_are(world: World, aws: str) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    world.set_environ(EMBEDDING_MODEL="other")
    await world.refresh(source)
    client = boto3.client("sqs")
    url = client.create_queue(QueueName=f"refresh-{uuid4().hex}")["QueueUrl"]
    world.set_environ(REFRESH_QUEUE_URL=url)
    assert await enqueue_due(world.sandbox) == 1
    assert await enqueue_due(world.sandbox) == 0
    (received,) = client.receive_message(QueueUrl=url)["Messages"]
    expected = RefreshMessage(world.database.tenant_id, index_id=await find_building(world))
    assert RefreshMessage.from_body(received["Body"]) == expected
