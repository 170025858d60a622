"""Asynchronous invocation: retries, event age, destinations, faults of delivery."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from local.cloud.cloud import LocalCloud
from local.cloud.faults import DeliveryKind, NoFaults
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.notes import read_notes, wait_for, wait_for_notes

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_failing_event_is_retried_and_its_record_reaches_the_destination(
    cloud: LocalCloud, tmp_path: Path
) -> None:
    event = {"do": "raise", "note": str(tmp_path / "calls")}
    await cloud.invoke_async("Misbehave", event)
    [record] = await wait_for_notes(cloud.options.data / "records")

    calls = read_notes(tmp_path / "calls")
    assert len(calls) == 3
    assert len({request_id for _, _, request_id in calls}) == 1
    assert record["version"] == "1.0"
    assert record["requestContext"] == {
        "requestId": calls[0][2],
        "functionArn": cloud.functions["Misbehave"].spec.arn + ":$LATEST",
        "condition": "RetriesExhausted",
        "approximateInvokeCount": 3,
    }
    assert record["requestPayload"] == event
    assert record["responseContext"] == {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"}
    assert record["responsePayload"]["errorType"] == "ValueError"


async def test_a_timeout_without_retries_reaches_the_destination_within_two_seconds(tmp_path: Path) -> None:
    options = build_options(tmp_path, timeouts={"Narrow": 0.5})
    async with LocalCloud(options) as cloud:
        await cloud.invoke("Narrow", {})
        await cloud.invoke_async("Narrow", {"do": "sleep"})
        async with asyncio.timeout(2.5):
            [record] = await _receive(cloud, "Failed")

    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 1
    assert record["responsePayload"]["errorType"] == "Sandbox.Timedout"


async def test_an_event_that_gets_no_worker_in_time_is_too_old(cloud: LocalCloud) -> None:
    await cloud.invoke_async("Narrow", {"do": "sleep", "seconds": 1.5})
    await wait_for(lambda: cloud.workers("Narrow", busy=True))
    await cloud.invoke_async("Narrow", {"late": True})
    [record] = await _receive(cloud, "Failed")

    assert record["requestContext"]["condition"] == "EventAgeExceeded"
    assert record["requestContext"]["approximateInvokeCount"] == 0
    assert record["requestPayload"] == {"late": True}


async def test_a_dead_letter_queue_gets_the_event_itself(cloud: LocalCloud) -> None:
    await cloud.invoke_async("Doomed", {"do": "raise"})

    assert await _receive(cloud, "Dead") == [{"do": "raise"}]


class RecordsTwice(NoFaults):
    """Failure records arrive twice."""

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:
        return (0.0, 0.05) if kind == "record" else (0.0,)


async def test_faults_may_repeat_a_record(tmp_path: Path) -> None:
    options = build_options(tmp_path, faults=RecordsTwice(), retry_delays=(0.0,))
    async with LocalCloud(options) as cloud:
        await cloud.invoke_async("Misbehave", {"do": "raise"})
        first, second = await wait_for_notes(tmp_path / "records", 2)

    assert first == second


async def _receive(cloud: LocalCloud, queue: str) -> list[Any]:
    arn = f"arn:aws:sqs:eu-central-1:123456789012:oria-{queue}"
    messages: list[Any] = []
    async with asyncio.timeout(8.0):
        while not messages:
            messages = await cloud.aws.receive_messages(arn)
            await asyncio.sleep(0.05)
    return [json.loads(message["Body"]) for message in messages]
