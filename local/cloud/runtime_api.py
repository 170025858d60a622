"""The Lambda Runtime API of one worker process (version 2018-06-01 of AWS's public document).

The runtime client asks `invocation/next` and is left waiting until there is one; its answer goes to
`invocation/{id}/response` or `/error`; a failing import goes to `init/error`.
"""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field

from local.cloud.wire import WireRequest, WireResponse, WireServer

PREFIX = "/2018-06-01/runtime/"
# Lambda's synchronous limit: 6 MB and the little that its envelope may add.
RESPONSE_LIMIT_BYTES = 6 * 1024 * 1024 + 100

ACCEPTED = WireResponse(202, b'{"status":"OK"}', {"Content-Type": "application/json"})


@dataclass(frozen=True)
class Reply:
    """What the runtime client answered. `failed` marks an error document instead of a result; `last` says that the
    client exits after it, as awslambdaric does when its answer is refused for its size."""

    payload: bytes
    failed: bool = False
    last: bool = False


@dataclass
class Invocation:
    """One event on its way through a worker; `deadline` is in seconds of the wall clock."""

    request_id: str
    body: bytes
    deadline: float
    reply: asyncio.Future[Reply] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def answer(self, reply: Reply) -> None:
        """The first answer counts."""
        if not self.reply.done():
            self.reply.set_result(reply)


class RuntimeApi:
    """Hands invocations to one worker and takes its answers."""

    def __init__(self, function_arn: str) -> None:
        self._function_arn = function_arn
        self._waiting: asyncio.Queue[Invocation] = asyncio.Queue()
        self._current: Invocation | None = None
        self._server = WireServer(self._handle)
        self.initialised = asyncio.Event()
        self.init_error: bytes | None = None

    @property
    def address(self) -> str:
        """What AWS_LAMBDA_RUNTIME_API must say."""
        return self._server.address

    async def start(self) -> None:
        await self._server.start()

    async def close(self) -> None:
        await self._server.close()

    def submit(self, invocation: Invocation) -> None:
        """Give the worker its next event. The caller waits on `invocation.reply`."""
        self._waiting.put_nowait(invocation)

    async def _handle(self, request: WireRequest) -> WireResponse:
        resource = request.path.removeprefix(PREFIX)
        if resource == "invocation/next":
            return await self._next()
        if resource == "init/error":
            self.init_error = request.body
            self.initialised.set()
            return ACCEPTED
        return self._take(resource.split("/"), request.body)

    async def _next(self) -> WireResponse:
        self.initialised.set()
        self._current = await self._waiting.get()
        now = int(time.time())
        trace = f"Root=1-{now:08x}-{uuid.uuid4().hex[:24]};Parent={uuid.uuid4().hex[:16]};Sampled=0"
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": self._current.request_id,
            "Lambda-Runtime-Deadline-Ms": str(int(self._current.deadline * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": self._function_arn,
            "Lambda-Runtime-Trace-Id": trace,
        }
        return WireResponse(200, self._current.body, headers)

    def _take(self, resource: list[str], body: bytes) -> WireResponse:
        current = self._current
        if current is None or resource[:2] != ["invocation", current.request_id] or len(resource) != 3:
            return WireResponse(400, error_document("InvalidRequestID", "Invalid request ID"))
        if resource[2] == "error":
            current.answer(Reply(body, failed=True))
            return ACCEPTED
        if len(body) > RESPONSE_LIMIT_BYTES:
            current.answer(Reply(_too_large(len(body)), failed=True, last=True))
            return WireResponse(413, error_document("RequestEntityTooLarge", "Exceeded maximum allowed payload size"))
        current.answer(Reply(body))
        return ACCEPTED


def error_document(kind: str, message: str) -> bytes:
    """The JSON in which Lambda reports an error of its own (shape of AWS's runtime emulator)."""
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


def _too_large(size: int) -> bytes:
    message = f"Response payload size ({size} bytes) exceeded maximum allowed payload size (6291556 bytes)."
    return error_document("Function.ResponseSizeTooLarge", message)
