"""The bus, queues and schedules: what reaches which function."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.cloud.cloud import LocalCloud
from local.cloud.faults import NoFaults
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.notes import read_notes, wait_for_notes

pytestmark = pytest.mark.asyncio(loop_scope="module")


def entry(to: str, kind: str = "told", bus: str = "oria-bus") -> dict[str, str]:
    """A PutEvents entry."""
    return {"EventBusName": bus, "Source": "test", "DetailType": kind, "Detail": json.dumps({"to": to})}


async def test_the_sdk_puts_events_that_rules_route_to_functions(cloud: LocalCloud) -> None:
    client: Any = boto3.client(
        "events",
        endpoint_url=cloud.bus.url,
        region_name="eu-central-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    entries = [entry("record"), entry("nobody"), entry("record", kind="other"), entry("record", bus="default")]
    answer = await asyncio.to_thread(client.put_events, Entries=entries)

    assert answer["FailedEntryCount"] == 0
    [event] = await wait_for_notes(cloud.options.data / "records")
    await cloud.settle()
    assert len(read_notes(cloud.options.data / "records")) == 1
    assert event["id"] == answer["Entries"][0]["EventId"]
    assert event["detail-type"] == "told"
    assert event["source"] == "test"
    assert event["detail"] == {"to": "record"}


async def test_put_events_reports_bad_entries_one_by_one(cloud: LocalCloud) -> None:
    malformed = {"Source": "test", "DetailType": "told", "Detail": "not json"}
    answer = cloud.put_events([entry("nobody"), malformed, entry("nobody", bus="missing"), {"Source": "test"}])

    codes = [result.get("ErrorCode") for result in answer["Entries"]]
    assert answer["FailedEntryCount"] == 3
    assert codes == [None, "MalformedDetail", "ResourceNotFoundException", "InvalidArgument"]


class Refusing(NoFaults):
    """Targets refuse the first `count` deliveries."""

    def __init__(self, count: int) -> None:
        self.count = count

    def refuses(self, target: str) -> bool:
        if not target.endswith("TakeRecord"):
            return False
        self.count -= 1
        return self.count >= 0

    def rejects(self, entry: Mapping[str, Any]) -> bool:
        return "rejected" in entry["Detail"]


async def test_a_target_that_refuses_once_is_tried_again_and_failed_entries_are_reported(tmp_path: Path) -> None:
    async with LocalCloud(build_options(tmp_path, faults=Refusing(1))) as cloud:
        answer = cloud.put_events([entry("record"), entry("rejected")])
        assert len(await wait_for_notes(tmp_path / "records")) == 1

    assert answer["FailedEntryCount"] == 1


async def test_what_a_target_refuses_for_good_goes_to_the_dead_letter_queue(tmp_path: Path) -> None:
    async with LocalCloud(build_options(tmp_path, faults=Refusing(99))) as cloud:
        cloud.put_events([entry("record")])
        await cloud.settle()
        [message] = await cloud.aws.receive_messages("arn:aws:sqs:eu-central-1:123456789012:oria-Failed")

    assert json.loads(message["Body"])["detail"] == {"to": "record"}
    assert message["MessageAttributes"]["TARGET_ARN"]["StringValue"].endswith("TakeRecord")


async def test_a_queue_feeds_its_function_and_redrives_what_fails(cloud: LocalCloud) -> None:
    for body in ("good", "bad"):
        await cloud.aws.send_message("arn:aws:sqs:eu-central-1:123456789012:oria-Work", body)
    dead: list[Any] = []
    async with asyncio.timeout(10.0):
        while not dead:
            dead = await cloud.aws.receive_messages("arn:aws:sqs:eu-central-1:123456789012:oria-Dead")
            await asyncio.sleep(0.1)

    bodies = [body for note in read_notes(cloud.options.data / "batches") for body in note["bodies"]]
    assert [message["Body"] for message in dead] == ["bad"]
    assert bodies.count("good") == 1
    assert bodies.count("bad") == 2


async def test_batches_of_a_queue_are_handled_beside_each_other_and_none_before_its_delay(cloud: LocalCloud) -> None:
    queue = "arn:aws:sqs:eu-central-1:123456789012:oria-Meetings"
    url = cloud.aws.queue_url(queue)
    await cloud.aws.call("sqs", "SendMessage", QueueUrl=url, MessageBody="later", DelaySeconds=1)
    await cloud.aws.send_message(queue, "now")
    met = await wait_for_notes(cloud.options.data / "meetings", 2)
    assert met == [{"body": "now"}, {"body": "later"}]


async def test_a_schedule_invokes_its_function(tmp_path: Path) -> None:
    options = build_options(tmp_path, schedules=True, rates={"Tick": 0.2})
    async with LocalCloud(options):
        first, second = (await wait_for_notes(tmp_path / "ticks", 2))[:2]

    assert first["detail-type"] == "Scheduled Event"
    assert first["id"] != second["id"]
