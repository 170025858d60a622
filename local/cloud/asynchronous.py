"""Asynchronous invocation: retries, the age of events, destinations and dead-letter queues, as Lambda does them."""

import asyncio
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.cloud.aws import AwsApi
from local.cloud.background import BackgroundTasks
from local.cloud.faults import Faults
from local.cloud.function import Function, InvokeResult
from local.cloud.resources import FunctionSpec

# Lambda waits one minute before the first retry of a function error and two before the second.
RETRY_DELAYS: Sequence[float] = (60.0, 120.0)


class UndeliverableError(Exception):
    """The target does not exist or refuses; a rule's retry policy and dead-letter queue follow."""


class AsynchronousInvoker:
    """Takes events for functions and queues by ARN."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        aws: AwsApi,
        faults: Faults,
        *,
        retry_delays: Sequence[float] = RETRY_DELAYS,
    ) -> None:
        self._functions = {function.spec.arn: function for function in functions.values()}
        self._aws = aws
        self._faults = faults
        self._retry_delays = retry_delays
        self.tasks = BackgroundTasks()

    async def deliver(self, arn: str, payload: Any, attributes: Mapping[str, str] | None = None) -> None:
        """Hand a payload to a function (accepted, run later) or a queue. Raises UndeliverableError."""
        if self._faults.refuses(arn):
            raise UndeliverableError(f"{arn} refused the delivery")
        if ":sqs:" in arn:
            await self._aws.send_message(arn, json.dumps(payload), attributes)
            return
        function = self._functions.get(arn.removesuffix(":$LATEST"))
        if function is None:
            raise UndeliverableError(f"no target {arn}")
        self.tasks.start(self._run(function, payload, time.time()))

    async def _run(self, function: Function, event: Any, accepted_at: float) -> None:
        spec, request_id = function.spec, str(uuid.uuid4())
        result: InvokeResult | None = None
        for attempt in range(spec.retries + 1):
            if attempt:
                await asyncio.sleep(self._retry_delays[min(attempt, len(self._retry_delays)) - 1])
            remaining = spec.event_age - (time.time() - accepted_at)
            outcome = await _invoke_within(function, event, request_id, remaining)
            if outcome is None:
                await self._fail(spec, FailedEvent("EventAgeExceeded", request_id, event, attempt, result))
                return
            result = outcome
            if result.function_error is None:
                return
        await self._fail(spec, FailedEvent("RetriesExhausted", request_id, event, spec.retries + 1, result))

    async def _fail(self, spec: FunctionSpec, failed: "FailedEvent") -> None:
        if spec.dead_letter is not None:
            await self.deliver(spec.dead_letter, failed.event, _dead_letter_attributes(failed))
        if spec.on_failure is None:
            return
        record = build_record(spec, failed)
        for delay in self._faults.plan("record", spec.on_failure, record):
            self.tasks.start(self._deliver_later(spec.on_failure, record, delay))

    async def _deliver_later(self, arn: str, payload: Any, delay: float) -> None:
        await asyncio.sleep(delay)
        await self.deliver(arn, payload)


async def _invoke_within(function: Function, event: Any, request_id: str, seconds: float) -> InvokeResult | None:
    """The result, or None when no sandbox was free before the event was too old.

    Only the wait for a sandbox is bounded: an invocation that has begun is ended by the function's own timeout.
    """
    if seconds <= 0 or not await function.wait_for_slot(seconds):
        return None
    return await function.invoke_in_slot(event, request_id)


@dataclass(frozen=True)
class FailedEvent:
    """An asynchronous event that is given up: `condition` is RetriesExhausted or EventAgeExceeded."""

    condition: str
    request_id: str
    event: Any
    invocations: int
    result: InvokeResult | None


def build_record(spec: FunctionSpec, failed: FailedEvent) -> dict[str, Any]:
    """The record of a destination (Lambda's document "Retaining records of asynchronous invocations").

    An event that was never run has no response.
    """
    record: dict[str, Any] = {
        "version": "1.0",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "requestContext": {
            "requestId": failed.request_id,
            "functionArn": f"{spec.arn}:$LATEST",
            "condition": failed.condition,
            "approximateInvokeCount": failed.invocations,
        },
        "requestPayload": failed.event,
    }
    if failed.result is not None:
        context = {"statusCode": 200, "executedVersion": "$LATEST", "functionError": failed.result.function_error}
        record |= {"responseContext": context, "responsePayload": failed.result.value}
    return record


def _dead_letter_attributes(failed: FailedEvent) -> dict[str, str]:
    message = failed.result.value.get("errorMessage", "") if failed.result is not None else "event age exceeded"
    return {"RequestID": failed.request_id, "ErrorCode": "200", "ErrorMessage": str(message)[:1024]}
