"""Putting events on the bus. EventBridge answers 200 with failed entries, so every entry is looked at."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mypy_boto3_events.client import EventBridgeClient

SOURCE = "oria"
# PutEvents takes ten entries a call (AWS service quotas).
ENTRIES_PER_CALL = 10


@dataclass(frozen=True)
class BusEvent:
    """One entry: ids only, never a text."""

    detail_type: str
    detail: Mapping[str, Any]


class Publisher(Protocol):
    """Where the outbox sends its events."""

    async def publish(self, events: Sequence[BusEvent]) -> list[bool]:
        """Send them; says of each whether the bus took it. Raises when nothing could be sent."""
        ...


class EventBridgePublisher:
    """PutEvents. boto3 blocks, so it runs in a thread; the client is made on first use (80 ms)."""

    def __init__(self, bus: str) -> None:
        self._bus = bus

    @cached_property
    def _client(self) -> "EventBridgeClient":
        import boto3
        from botocore.config import Config

        config = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})
        return boto3.client("events", config=config)

    async def publish(self, events: Sequence[BusEvent]) -> list[bool]:
        taken: list[bool] = []
        for start in range(0, len(events), ENTRIES_PER_CALL):
            taken += await asyncio.to_thread(self._put, events[start : start + ENTRIES_PER_CALL])
        return taken

    def _put(self, events: Sequence[BusEvent]) -> list[bool]:
        answer = self._client.put_events(
            Entries=[
                {
                    "EventBusName": self._bus,
                    "Source": SOURCE,
                    "DetailType": event.detail_type,
                    "Detail": json.dumps(event.detail),
                }
                for event in events
            ]
        )
        return ["EventId" in entry for entry in answer["Entries"]]
