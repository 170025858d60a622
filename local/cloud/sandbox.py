"""One execution environment of a function: a worker process under AWS's runtime client, and its Runtime API."""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.cloud.environment import build_function_environment
from local.cloud.process import Process
from local.cloud.resources import FunctionSpec
from local.cloud.runtime_api import Invocation, Reply, RuntimeApi, error_document


@dataclass(frozen=True)
class Ended:
    """How an invocation ended for the sandbox; after a kill or a crash it serves no other."""

    reply: Reply
    reusable: bool


class SlowInitError(Exception):
    """The init phase passed its limit and the sandbox was killed."""


class FailedInitError(Exception):
    """The init phase failed; `document` is the error that the caller of the function gets."""

    def __init__(self, document: bytes) -> None:
        super().__init__(document.decode(errors="replace"))
        self.document = document


class Sandbox:
    """A worker for one invocation after the other. `busy` while it holds one."""

    def __init__(self, spec: FunctionSpec, api: RuntimeApi, process: Process, *, freeze: bool) -> None:
        self.spec = spec
        self.busy = False
        self._api = api
        self._process = process
        self._freeze = freeze
        self._frozen = False

    @classmethod
    async def start(
        cls, spec: FunctionSpec, base: Mapping[str, str], write_line: Callable[[str], None], *, freeze: bool = False
    ) -> "Sandbox":
        """Start the worker; it is usable after `wait_until_ready`."""
        api = RuntimeApi(spec.arn)
        await api.start()
        environ = build_function_environment(spec, base) | {"AWS_LAMBDA_RUNTIME_API": api.address}
        command = [sys.executable, "-m", "awslambdaric", spec.handler]
        process = await Process.start(command, cwd=spec.code_root, environ=environ, write_line=write_line)
        return cls(spec, api, process, freeze=freeze)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    async def wait_until_ready(self, limit: float) -> None:
        """The init phase. Raises SlowInitError after `limit` seconds, FailedInitError when it ends with an error."""
        ready = asyncio.create_task(self._api.initialised.wait())
        done, _ = await asyncio.wait({ready, self._process.ended}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if not done:
            await self.kill()
            raise SlowInitError
        if self._api.init_error is not None or not self.alive:
            document = self._api.init_error or error_document("Runtime.ExitError", self._exit_message(""))
            await self.kill()
            raise FailedInitError(document)

    async def invoke(self, request_id: str, event: bytes) -> Ended:
        """Run one event. The process group is killed when the function's timeout passes."""
        self.thaw()
        self.busy = True
        started = time.time()
        invocation = Invocation(request_id, event, started + self.spec.timeout)
        self._api.submit(invocation)
        waited: set[asyncio.Future[Any]] = {invocation.reply, self._process.ended}
        await asyncio.wait(waited, timeout=self.spec.timeout, return_when=asyncio.FIRST_COMPLETED)
        self.busy = False
        if invocation.reply.done():
            if self._freeze:
                self.freeze()
            reply = invocation.reply.result()
            return Ended(reply, reusable=self.alive and not reply.last)
        return await self._end_without_reply(request_id)

    async def _end_without_reply(self, request_id: str) -> Ended:
        timed_out = self.alive
        await self.kill()
        if timed_out:
            message = f"RequestId: {request_id} Error: Task timed out after {self.spec.timeout:.2f} seconds"
            return Ended(Reply(error_document("Sandbox.Timedout", message), failed=True), reusable=False)
        document = error_document("Runtime.ExitError", self._exit_message(f"RequestId: {request_id} "))
        return Ended(Reply(document, failed=True), reusable=False)

    def freeze(self) -> None:
        """Stop the worker as Lambda freezes an idle sandbox; also a zombie in tests."""
        self._process.signal(signal.SIGSTOP)
        self._frozen = True

    def thaw(self) -> None:
        if self._frozen:
            self._process.signal(signal.SIGCONT)
            self._frozen = False

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the worker's process group; the function notices what becomes of it."""
        self._process.signal(number)

    async def kill(self) -> None:
        """End the worker and everything it started."""
        await self._process.kill()
        await self._api.close()

    def _exit_message(self, prefix: str) -> str:
        return f"{prefix}Error: Runtime exited with error: {self._process.describe_exit()}"
