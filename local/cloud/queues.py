"""SQS event sources: polls moto's queues for functions, deletes what was handled, leaves the rest to be redriven."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from local.cloud.aws import AwsApi
from local.cloud.background import BackgroundTasks
from local.cloud.function import Function, InvokeResult, ThrottledError
from local.cloud.resources import REGION, QueueSourceSpec

POLL_SECONDS = 0.25


class QueuePoller:
    """Polls every event source until it is closed."""

    def __init__(
        self,
        sources: Sequence[QueueSourceSpec],
        functions: Mapping[str, Function],
        aws: AwsApi,
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._sources = sources
        self._functions = {function.spec.arn: function for function in functions.values()}
        self._aws = aws
        self._poll_seconds = poll_seconds
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        for source in self._sources:
            self._tasks.start(self._poll(source))

    async def close(self) -> None:
        await self._tasks.cancel()

    async def _poll(self, source: QueueSourceSpec) -> None:
        free = asyncio.Semaphore(source.concurrency)
        while True:
            await free.acquire()
            messages = await self._aws.receive_messages(source.queue_arn, min(source.batch_size, 10))
            if messages:
                self._tasks.start(self._handle_and_free(source, messages, free))
            else:
                free.release()
                await asyncio.sleep(self._poll_seconds)

    async def _handle_and_free(
        self, source: QueueSourceSpec, messages: Sequence[Mapping[str, Any]], free: asyncio.Semaphore
    ) -> None:
        try:
            await self._handle(source, messages)
        finally:
            free.release()

    async def _handle(self, source: QueueSourceSpec, messages: Sequence[Mapping[str, Any]]) -> None:
        event = {"Records": [_build_record(source.queue_arn, message) for message in messages]}
        try:
            result = await self._functions[source.function_arn].invoke(event)
        except ThrottledError:
            return
        failed = find_failed_ids(result, source, [message["MessageId"] for message in messages])
        url = self._aws.queue_url(source.queue_arn)
        for message in messages:
            if message["MessageId"] not in failed:
                await self._aws.call("sqs", "DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def find_failed_ids(result: InvokeResult, source: QueueSourceSpec, ids: Sequence[str]) -> set[str]:
    """The messages to leave on the queue: all after an error, else those that the function reported.

    Lambda takes a report without an id, or with an unknown one, as a failure of the whole batch.
    """
    if result.function_error is not None:
        return set(ids)
    answer = result.value if source.partial_failures else None
    if not isinstance(answer, dict):
        return set()
    failed = {item.get("itemIdentifier") for item in answer.get("batchItemFailures") or []}
    return set(ids) if failed - set(ids) else {identifier for identifier in failed if identifier}


def _build_record(queue_arn: str, message: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {
        name: {
            "stringValue": value.get("StringValue"),
            "stringListValues": [],
            "binaryListValues": [],
            "dataType": value["DataType"],
        }
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": attributes,
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }
