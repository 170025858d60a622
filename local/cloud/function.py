"""A function: its sandboxes, reused last in first out, up to its concurrency."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.cloud.resources import FunctionSpec
from local.cloud.runtime_api import Reply, error_document
from local.cloud.sandbox import FailedInitError, Sandbox, SlowInitError

# Lambda's limit of a synchronous request.
REQUEST_LIMIT_BYTES = 6 * 1024 * 1024


class ThrottledError(Exception):
    """The function's reserved concurrency is used up (429)."""


class PayloadTooLargeError(Exception):
    """The event is larger than Lambda accepts (413)."""


@dataclass(frozen=True)
class InvokeResult:
    """What Invoke answers. `function_error` is None or "Unhandled"; times are in milliseconds."""

    request_id: str
    payload: bytes
    function_error: str | None
    duration_ms: float
    init_ms: float | None = None

    @property
    def value(self) -> Any:
        """The payload as JSON."""
        return json.loads(self.payload)


@dataclass(frozen=True)
class SandboxPolicy:
    """How sandboxes are run. `capacity` is this machine's limit per function: callers beyond it wait, they are not
    throttled. `starts` lets only a few cold starts run at once, which is quicker on a small machine."""

    base_environment: Mapping[str, str]
    starts: asyncio.Semaphore
    init_seconds: float = 10.0
    capacity: int = 8
    freeze: bool = False


class Function:
    """Invokes a function in real worker processes."""

    def __init__(self, spec: FunctionSpec, policy: SandboxPolicy, write_line: Callable[[str], None]) -> None:
        self.spec = spec
        self._policy = policy
        self._write_line = write_line
        self._idle: list[Sandbox] = []
        self._all: set[Sandbox] = set()
        self._in_flight = 0
        reserved = policy.capacity if spec.reserved is None else spec.reserved
        self._slots = asyncio.Semaphore(min(policy.capacity, reserved))

    @property
    def sandboxes(self) -> list[Sandbox]:
        """The living sandboxes, busy and idle."""
        return [sandbox for sandbox in self._all if sandbox.alive]

    async def invoke(self, event: Any, *, request_id: str | None = None) -> InvokeResult:
        """Run one event (JSON-serialisable) synchronously.

        Raises ThrottledError when the reserved concurrency is used up, PayloadTooLargeError above 6 MB.
        """
        if self.spec.reserved is not None and self._in_flight >= self.spec.reserved:
            raise ThrottledError
        await self._slots.acquire()
        return await self.invoke_in_slot(event, request_id or str(uuid.uuid4()))

    async def wait_for_slot(self, seconds: float) -> bool:
        """Take a place for `invoke_in_slot`; False when none came free in time (an event is then still queued)."""
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
        except TimeoutError:
            return False
        return True

    async def invoke_in_slot(self, event: Any, request_id: str) -> InvokeResult:
        """Run one event in a place that was taken before, and give the place back."""
        self._in_flight += 1
        try:
            return await self._run(request_id, _encode(event))
        finally:
            self._in_flight -= 1
            self._slots.release()

    async def prewarm(self, count: int = 1) -> None:
        """Have `count` sandboxes ready. A failing init shows at the first invocation, as on Lambda."""
        for _ in range(count - len(self._idle)):
            try:
                self._idle.append(await self._start(self._policy.init_seconds))
            except (FailedInitError, SlowInitError):
                return

    async def close(self) -> None:
        """Kill every sandbox."""
        await asyncio.gather(*(sandbox.kill() for sandbox in self._all))
        self._all.clear()
        self._idle.clear()

    async def _run(self, request_id: str, body: bytes) -> InvokeResult:
        init_started = time.perf_counter()
        try:
            sandbox, cold = await self._take_sandbox()
        except FailedInitError as error:
            return InvokeResult(request_id, error.document, "Unhandled", 0.0, _since(init_started))
        init_ms = _since(init_started) if cold else None
        started = time.perf_counter()
        try:
            ended = await sandbox.invoke(request_id, body)
        except asyncio.CancelledError:
            await self._discard(sandbox)
            raise
        if ended.reusable:
            self._idle.append(sandbox)
        else:
            self._write_line(ended.reply.payload.decode(errors="replace"))
            await self._discard(sandbox)
        return _as_result(request_id, ended.reply, _since(started), init_ms)

    async def _take_sandbox(self) -> tuple[Sandbox, bool]:
        while self._idle:
            sandbox = self._idle.pop()
            if sandbox.alive:
                return sandbox, False
            await self._discard(sandbox)
        try:
            return await self._start(self._policy.init_seconds), True
        except SlowInitError:
            return await self._start_again(), True

    async def _start(self, limit: float) -> Sandbox:
        async with self._policy.starts:
            base, freeze = self._policy.base_environment, self._policy.freeze
            sandbox = await Sandbox.start(self.spec, base, self._write_line, freeze=freeze)
            self._all.add(sandbox)
            try:
                await sandbox.wait_until_ready(limit)
            except (asyncio.CancelledError, FailedInitError, SlowInitError):
                await self._discard(sandbox)
                raise
            return sandbox

    async def _start_again(self) -> Sandbox:
        """Lambda runs a slow init once more inside the invocation, under the function's timeout."""
        try:
            return await self._start(self.spec.timeout)
        except SlowInitError:
            message = f"Error: Task timed out after {self.spec.timeout:.2f} seconds"
            raise FailedInitError(error_document("Sandbox.Timedout", message)) from None

    async def _discard(self, sandbox: Sandbox) -> None:
        await sandbox.kill()
        self._all.discard(sandbox)


def _encode(event: Any) -> bytes:
    body = json.dumps(event, separators=(",", ":")).encode()
    if len(body) > REQUEST_LIMIT_BYTES:
        raise PayloadTooLargeError
    return body


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _as_result(request_id: str, reply: Reply, duration_ms: float, init_ms: float | None) -> InvokeResult:
    return InvokeResult(request_id, reply.payload, "Unhandled" if reply.failed else None, duration_ms, init_ms)
