"""EventBridge: PutEvents over HTTP, rules matched by moto's pattern matcher, targets with retry policy and DLQ.

moto itself answers HTTP 500 for rules whose target is a function, hence this endpoint (AWS_ENDPOINT_URL_EVENTBRIDGE).
"""

import asyncio
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from moto.events.models import EventPattern

from local.cloud.asynchronous import AsynchronousInvoker, UndeliverableError
from local.cloud.faults import Faults
from local.cloud.resources import ACCOUNT, REGION, RuleSpec, TargetSpec, arn
from local.cloud.wire import WireRequest, WireResponse, WireServer

# Limits of PutEvents.
ENTRIES_LIMIT = 10
REQUEST_LIMIT_BYTES = 256 * 1024
REQUIRED_FIELDS = ("Source", "DetailType", "Detail")
JSON_HEADERS = {"Content-Type": "application/x-amz-json-1.1"}
# Pauses between tries of a target: exponential, as EventBridge's back-off is, but in the time scale of a test.
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 10.0


class Bus:
    """All buses of the application behind one endpoint."""

    def __init__(
        self, buses: Sequence[str], rules: Sequence[RuleSpec], invoker: AsynchronousInvoker, faults: Faults
    ) -> None:
        self._buses = frozenset(buses)
        self._rules = [(rule, EventPattern(None, dict(rule.pattern))) for rule in rules]
        self._invoker = invoker
        self._faults = faults
        self._server = WireServer(self._handle)

    @property
    def url(self) -> str:
        return f"http://{self._server.address}"

    async def start(self) -> None:
        await self._server.start()

    async def close(self) -> None:
        await self._server.close()

    def put_events(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Accept entries as PutEvents does: one result for each, failed ones counted, delivery later."""
        results = [self._put(entry) for entry in entries]
        return {"FailedEntryCount": sum("ErrorCode" in result for result in results), "Entries": results}

    async def _handle(self, request: WireRequest) -> WireResponse:
        operation = request.headers.get("x-amz-target", "").rpartition(".")[2]
        if operation != "PutEvents":
            return _refuse("UnknownOperationException", f"the local bus knows PutEvents, not {operation or 'this'}")
        entries = json.loads(request.body).get("Entries", [])
        if not 1 <= len(entries) <= ENTRIES_LIMIT:
            return _refuse("ValidationException", f"1 to {ENTRIES_LIMIT} entries, not {len(entries)}")
        if len(request.body) > REQUEST_LIMIT_BYTES:
            return _refuse("ValidationException", "Total size of the entries in the request is over the limit.")
        return WireResponse(200, json.dumps(self.put_events(entries)).encode(), JSON_HEADERS)

    def _put(self, entry: Mapping[str, Any]) -> dict[str, str]:
        if missing := [name for name in REQUIRED_FIELDS if not entry.get(name)]:
            return {"ErrorCode": "InvalidArgument", "ErrorMessage": f"Parameter {missing[0]} is not valid."}
        try:
            detail = json.loads(entry["Detail"])
        except ValueError:
            detail = None
        if not isinstance(detail, dict):
            return {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
        bus = str(entry.get("EventBusName", "default")).rpartition("/")[2]
        if bus not in self._buses:
            return {"ErrorCode": "ResourceNotFoundException", "ErrorMessage": f"Event bus {bus} does not exist."}
        if self._faults.rejects(entry):
            return {"ErrorCode": "InternalFailure", "ErrorMessage": "Unexpected exception occurred."}
        event = _build_event(entry, detail)
        self._route(bus, event)
        return {"EventId": event["id"]}

    def _route(self, bus: str, event: dict[str, Any]) -> None:
        for rule, pattern in self._rules:
            if rule.bus == bus and pattern.matches_event(event):  # type: ignore[arg-type]
                for target in rule.targets:
                    for delay in self._faults.plan("event", target.arn, event):
                        self._invoker.tasks.start(self._deliver(rule, target, event, delay))

    async def _deliver(self, rule: RuleSpec, target: TargetSpec, event: Mapping[str, Any], delay: float) -> None:
        await asyncio.sleep(delay)
        error = await deliver_with_retries(self._invoker, target, event)
        if error is not None and target.dead_letter is not None:
            attributes = {
                "RULE_ARN": arn("events", f"rule/{rule.bus}/{rule.name}"),
                "TARGET_ARN": target.arn,
                "ERROR_CODE": "SDK_CLIENT_ERROR",
                "ERROR_MESSAGE": str(error),
            }
            await self._invoker.deliver(target.dead_letter, event, attributes)


async def deliver_with_retries(
    invoker: AsynchronousInvoker, target: TargetSpec, event: Mapping[str, Any]
) -> UndeliverableError | None:
    """Deliver under the target's retry policy; answers the last error when its tries or its time are used up."""
    started, pause = time.monotonic(), FIRST_PAUSE_SECONDS
    payload = event if target.input is None else target.input
    for attempt in range(target.retries + 1):
        try:
            await invoker.deliver(target.arn, payload)
        except UndeliverableError as error:
            too_old = time.monotonic() - started + pause > target.event_age
            if attempt == target.retries or too_old:
                return error
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        else:
            break
    return None


def _build_event(entry: Mapping[str, Any], detail: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": entry["DetailType"],
        "source": entry["Source"],
        "account": ACCOUNT,
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "region": REGION,
        "resources": list(entry.get("Resources", [])),
        "detail": dict(detail),
    }


def _refuse(kind: str, message: str) -> WireResponse:
    return WireResponse(400, json.dumps({"__type": kind, "message": message}).encode(), JSON_HEADERS)
