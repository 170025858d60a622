"""One worker at a time, and none that writes after another took over; work that is left is found again."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import boto3
import pytest

from oria_runtime.knowledge.refresh.consuming import consume
from oria_runtime.knowledge.refresh.due import enqueue_due
from oria_runtime.knowledge.refresh.limits import RENEW_SECONDS
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.turns.invocation import Invocation
from tests.support.events import load_event
from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import write_page

EXPIRE_SQL = "update knowledge_sources set lease_expires_at = now() - interval '1 second'"
HELD_SQL = (
    "select queued_until > now() as held, lease, next_refresh_at > now() as later from knowledge_sources where id = %s"
)


def open_pages(world: World, pages: int = 4) -> None:
    names = [f"/{number}" for number in range(pages)]
    world.site.put("/", write_page("Index", "All pages.", links={name: name for name in names}))
    for name in names:
        world.site.put(name, write_page(f"Page {name}", f"What page {name} says."))


async def start_and_hold(world: World, source: UUID, path: str) -> tuple[asyncio.Task[str], asyncio.Event]:
    """A refresh that waits for the answer of one page, and the event that gives it."""
    arrived, answer = asyncio.Event(), asyncio.Event()
    world.site.hold(path, arrived, answer)
    working = asyncio.create_task(world.refresh(source))
    await asyncio.wait_for(arrived.wait(), 20)
    return working, answer


async def test_a_source_is_not_refreshed_twice_at_once(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    assert await world.go_on(source) == "not_claimed"
    answer.set()
    assert await working == "completed"
    assert await world.go_on(source) == "not_claimed", "it is not due any more"
    assert max(world.site.asked().values()) == 1


async def test_a_worker_whose_lease_was_taken_writes_nothing(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    await world.query(EXPIRE_SQL)
    world.site.put("/2", write_page("Page 2", "A newer text."))
    assert await world.go_on(source) == "completed"
    whole, history = await world.dump(source), await world.last(source)
    answer.set()
    assert await working == "lease_lost"
    assert await world.dump(source) == whole
    assert await world.last(source) == history


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_refresh_stops_when_its_source_is_disabled_or_deleted(world: World, deleted: bool) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    if deleted:
        await world.query("delete from knowledge_sources where id = %s", source)
    else:
        await world.query("update knowledge_sources set status = 'disabled' where id = %s", source)
    answer.set()
    assert await working == ("lease_lost" if deleted else "stopped")
    rows = await world.query("select status, error ->> 'reason' as reason from knowledge_refreshes")
    assert rows == ([] if deleted else [{"status": "failed", "reason": "disabled"}])
    assert set(await world.documents(source)) == (set() if deleted else {"/"}), (
        "what was written before it was disabled"
    )


async def test_a_waiting_refresh_of_a_disabled_source_is_closed_by_its_message(world: World) -> None:
    open_pages(world)
    world.site.fail("/2", 503, retry_after="600")
    source = await world.add_source()
    assert await world.refresh(source) == "continued"
    await world.query("update knowledge_sources set status = 'disabled'")
    assert await world.go_on(source) == "stopped"
    assert (await world.last(source))["status"] == "failed"
    assert await world.query("select * from knowledge_visits") == []


async def test_the_next_refresh_is_at_the_cadence_with_a_tenth_of_jitter(world: World) -> None:
    open_pages(world, 1)
    source = await world.add_source(cadence=1_000)
    waits = set()
    for seed in range(4):
        await world.refresh(source, seed=seed)
        (row,) = await world.query(
            "select extract(epoch from next_refresh_at - now())::float8 as seconds from knowledge_sources"
        )
        assert 890 < row["seconds"] < 1_100
        waits.add(round(row["seconds"]))
    assert len(waits) == 4


async def test_a_request_during_a_refresh_makes_another_one_due(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    await world.query("update knowledge_sources set requested = true, next_refresh_at = least(next_refresh_at, now())")
    answer.set()
    assert await working == "completed"
    assert await world.go_on(source) == "completed"
    assert (await world.last(source))["trigger"] == "manual"
    assert await world.go_on(source) == "not_claimed"


async def test_a_request_during_a_refresh_is_met_by_a_message_at_its_end(world: World, queue: "Queue") -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    await world.query("update knowledge_sources set requested = true")
    answer.set()
    assert await working == "completed"
    (record,) = queue.receive()
    assert RefreshMessage.from_body(record["body"]) == world.message(source)
    assert await enqueue_due(world.sandbox) == 0, "it is queued already"
    assert await world.go_on(source) == "completed"
    assert await world.query("select 1 from knowledge_sources where queued_until is not null") == []


async def test_documents_that_take_long_keep_the_lease_though_nothing_is_written_yet(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    await world.query("update knowledge_sources set lease_expires_at = now() + interval '1 second'")
    arrived, last = asyncio.Event(), asyncio.Event()
    world.site.hold("/3", arrived, last)
    await asyncio.sleep(RENEW_SECONDS)
    answer.set()
    await asyncio.wait_for(arrived.wait(), 20)
    (row,) = await world.query("select lease_expires_at > now() + interval '60 seconds' as kept from knowledge_sources")
    assert row["kept"]
    last.set()
    assert await working == "completed"


async def test_a_location_that_kills_its_workers_is_given_up_and_the_others_are_not(world: World) -> None:
    open_pages(world)
    source = await world.add_source()
    await world.refresh(source)
    for _ in range(3):
        working, _ = await start_and_hold(world, source, "/2")
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert await world.go_on(source) == "completed"
    row = (await world.documents(source))["/2"]
    assert (row["status"], row["reason"]) == ("refused", "crashed")
    assert await world.chunks(source, "/2")
    assert await world.counts(source) == {"refused": 1, "unchanged": 4}


class Queue:
    """The refresh queue of a test, with its dead letters."""

    def __init__(self) -> None:
        self.client: Any = boto3.client("sqs")
        self.dead: str = self.client.create_queue(QueueName=f"dead-{uuid4().hex}")["QueueUrl"]
        target = self.client.get_queue_attributes(QueueUrl=self.dead, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        policy = json.dumps({"deadLetterTargetArn": target, "maxReceiveCount": 3})
        attributes: Any = {"VisibilityTimeout": "0", "RedrivePolicy": policy}
        self.url: str = self.client.create_queue(QueueName=f"refresh-{uuid4().hex}", Attributes=attributes)["QueueUrl"]

    def receive(self, url: str | None = None) -> list[dict[str, Any]]:
        """The messages as an event source hands them over."""
        answer = self.client.receive_message(QueueUrl=url or self.url, MaxNumberOfMessages=10)
        return [
            {"messageId": each["MessageId"], "body": each["Body"], "handle": each["ReceiptHandle"]}
            for each in answer.get("Messages", [])
        ]

    def delete(self, record: dict[str, Any]) -> None:
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=record["handle"])

    def count_delayed(self) -> int:
        name = "ApproximateNumberOfMessagesDelayed"
        answer = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=[name])
        return int(answer["Attributes"][name])


@pytest.fixture
def queue(world: World, aws: str) -> Iterator[Queue]:
    made = Queue()
    world.set_environ(REFRESH_QUEUE_URL=made.url)
    yield made
    for url in (made.url, made.dead):
        made.client.delete_queue(QueueUrl=url)


async def test_what_is_due_is_enqueued_once_and_refreshed_by_its_message(world: World, queue: Queue) -> None:
    open_pages(world)
    due, resting, disabled = [await world.add_source(name=name) for name in ("Due", "Resting", "Disabled")]
    await world.query("update knowledge_sources set next_refresh_at = now() + interval '1 hour' where id = %s", resting)
    await world.query("update knowledge_sources set status = 'disabled' where id = %s", disabled)
    assert await enqueue_due(world.sandbox) == 1
    assert await enqueue_due(world.sandbox) == 0, "it is queued already"
    (record,) = queue.receive()
    assert RefreshMessage.from_body(record["body"]) == world.message(due)
    answer = await consume(world.sandbox, [record], Invocation("request", time.monotonic() + 300))
    assert answer == {"batchItemFailures": []}
    # Loopback is allowed by the setting, and the site's pause between two requests is the fetcher's.
    assert (await world.last(due))["status"] == "completed"
    assert await enqueue_due(world.sandbox) == 0


async def test_a_refresh_whose_worker_died_is_found_when_its_lease_is_over(world: World, queue: Queue) -> None:
    open_pages(world)
    source = await world.add_source()
    working, answer = await start_and_hold(world, source, "/2")
    assert await enqueue_due(world.sandbox) == 0, "somebody works on it"
    await world.query(EXPIRE_SQL)
    assert await enqueue_due(world.sandbox) == 1
    answer.set()
    await working


async def test_a_message_that_was_lost_is_sent_again(world: World, queue: Queue) -> None:
    await world.add_source()
    assert await enqueue_due(world.sandbox) == 1
    for record in queue.receive():
        queue.delete(record)
    await world.query("update knowledge_sources set queued_until = now() - interval '1 second'")
    assert await enqueue_due(world.sandbox) == 1


async def test_what_the_queue_does_not_take_is_due_again(world: World, aws: str) -> None:
    source = await world.add_source()
    world.set_environ(REFRESH_QUEUE_URL=f"{aws}/123456789012/no-such-queue")
    with pytest.raises(Exception, match="queue"):
        await enqueue_due(world.sandbox)
    (row,) = await world.query(HELD_SQL, source)
    assert row["held"] is None


async def test_work_that_passes_the_functions_time_is_continued_by_a_message(world: World, queue: Queue) -> None:
    open_pages(world, 6)
    source = await world.add_source()
    # HANDOVER_SECONDS and the invocation's margin leave a quarter of a second for visits.
    world.site.delay = 0.06
    results = [await world.refresh(source, seconds=31.75)]
    while results[-1] == "continued":
        (record,) = queue.receive()
        queue.delete(record)
        assert RefreshMessage.from_body(record["body"]) == world.message(source)
        (row,) = await world.query(HELD_SQL, source)
        assert row["held"]
        assert row["lease"] is None
        results.append(await world.go_on(source, seconds=31.75))
        assert len(results) < 40
    assert results[-1] == "completed"
    assert len(results) > 1
    assert await world.counts(source) | {"chunks": 0, "embedded": 0} == {"new": 7, "chunks": 0, "embedded": 0}
    assert max(world.site.asked().values()) == 1


async def test_a_host_that_wants_to_be_left_alone_is_met_by_a_delayed_message(world: World, queue: Queue) -> None:
    open_pages(world)
    world.site.fail("/2", 429, retry_after="600")
    source = await world.add_source()
    assert await world.refresh(source) == "continued"
    assert queue.count_delayed() == 1
    (row,) = await world.query("select queued_until > now() + interval '20 minutes' as later from knowledge_sources")
    assert row["later"], "the schedule waits for the message's delay"


async def test_bodies_that_are_no_message_are_dropped_and_the_others_handled(world: World) -> None:
    open_pages(world, 1)
    source = await world.add_source()
    invocation = Invocation("request", time.monotonic() + 300)
    event = load_event("refresh_source/mixed", tenant_id=world.database.tenant_id, source_id=source)
    assert await consume(world.sandbox, event["Records"], invocation) == {"batchItemFailures": []}
    assert (await world.last(source))["status"] == "completed"


async def test_a_message_that_fails_comes_three_times_and_is_then_kept_for_somebody_to_look_at(
    world: World, queue: Queue
) -> None:
    source = await world.add_source()
    # What no code expects: the tenant's configuration cannot be read.
    await world.query("""update tenants set config = '{"locales": 7}'""")
    assert await enqueue_due(world.sandbox) == 1
    for _ in range(3):
        (record,) = queue.receive()
        answer = await consume(world.sandbox, [record], Invocation("request", time.monotonic() + 300))
        assert answer == {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    assert queue.receive() == []
    (dead,) = queue.receive(queue.dead)
    assert RefreshMessage.from_body(dead["body"]) == world.message(source)
    (row,) = await world.query("select lease from knowledge_sources")
    assert row["lease"] is None


async def test_work_of_another_tenant_is_found_but_not_seen(world: World, queue: Queue) -> None:
    source = await world.add_source()
    message = RefreshMessage(uuid4(), source)
    record = {"messageId": "1", "body": message.as_body()}
    assert await consume(world.sandbox, [record], Invocation("request", time.monotonic() + 300)) == {
        "batchItemFailures": []
    }
    assert await world.query("select * from knowledge_refreshes") == []
