"""Sending to the refresh queue. SQS answers 200 with failed entries, so every entry is looked at."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from oria_runtime.knowledge.refresh.limits import MAX_DELAY_SECONDS
from oria_runtime.knowledge.refresh.messages import RefreshMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient

# SendMessageBatch takes ten entries a call (AWS service quotas).
ENTRIES_PER_CALL = 10


@dataclass(frozen=True)
class Entry:
    """A message, and the seconds after which the queue shows it."""

    message: RefreshMessage
    delay: float = 0.0


class RefreshQueue:
    """SendMessageBatch. boto3 blocks, so it runs in a thread; the client is made on first use."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _client(self) -> "SQSClient":
        import boto3
        from botocore.config import Config

        config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 3})
        return boto3.client("sqs", config=config)

    async def send(self, entries: Sequence[Entry]) -> list[bool]:
        """Send them; says of each whether the queue took it. Raises botocore's errors when nothing could be sent."""
        taken: list[bool] = []
        for start in range(0, len(entries), ENTRIES_PER_CALL):
            taken += await asyncio.to_thread(self._send, entries[start : start + ENTRIES_PER_CALL])
        return taken

    def _send(self, entries: Sequence[Entry]) -> list[bool]:
        answer = self._client.send_message_batch(
            QueueUrl=self._url,
            Entries=[
                {
                    "Id": str(number),
                    "MessageBody": entry.message.as_body(),
                    "DelaySeconds": min(MAX_DELAY_SECONDS, max(0, round(entry.delay))),
                }
                for number, entry in enumerate(entries)
            ],
        )
        successful = {item["Id"] for item in answer.get("Successful", [])}
        return [str(number) in successful for number in range(len(entries))]
