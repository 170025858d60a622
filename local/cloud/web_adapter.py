"""The Lambda Web Adapter for a streaming function: the function's own web server as a child process, requests proxied.

AWS's adapter is a binary in a layer of theirs; what it does for a function is little: start the handler script, wait
until the port listens, pass requests on with the request's context in a header, stream the answers back. Unlike
Lambda, one process serves all streams at once; the reserved concurrency still bounds their number.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from local.cloud.environment import build_function_environment
from local.cloud.function import ThrottledError
from local.cloud.http_server import find_free_port
from local.cloud.process import Process, wait_until_listening
from local.cloud.proxy_events import HttpRequest
from local.cloud.resources import FunctionSpec

# Meaningful between two neighbours only (RFC 9110, section 7.6.1).
HOP_HEADERS = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length"})


class AdapterError(Exception):
    """The web server did not start or does not answer."""


@dataclass(frozen=True)
class StreamedAnswer:
    """An answer whose body is still coming."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: AsyncIterator[bytes]


class WebAdapter:
    """Runs one streaming function."""

    def __init__(
        self, spec: FunctionSpec, base: Mapping[str, str], write_line: Callable[[str], None], *, start_seconds: float
    ) -> None:
        self.spec = spec
        self._base = base
        self._write_line = write_line
        self._start_seconds = start_seconds
        self._process: Process | None = None
        self._client: httpx2.AsyncClient | None = None
        self._starting = asyncio.Lock()
        self._open = 0

    @property
    def process(self) -> Process | None:
        """The web server's process, None before the first request."""
        return self._process

    @asynccontextmanager
    async def stream(self, request: HttpRequest, context: str) -> AsyncIterator[StreamedAnswer]:
        """Pass a request on. Raises ThrottledError above the reserved concurrency, AdapterError without an answer."""
        if self.spec.reserved is not None and self._open >= self.spec.reserved:
            raise ThrottledError
        self._open += 1
        try:
            client = await self._ensure_started()
            async with self._send(client, request, context) as response:
                headers = [(name, value) for name, value in response.headers.multi_items() if name not in HOP_HEADERS]
                yield StreamedAnswer(response.status_code, headers, response.aiter_raw())
        except httpx2.TransportError as error:
            raise AdapterError(f"{self.spec.name} does not answer") from error
        finally:
            self._open -= 1

    async def prewarm(self) -> None:
        """Start the web server before the first request."""
        await self._ensure_started()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
        if self._process is not None:
            await self._process.kill()

    def _send(
        self, client: httpx2.AsyncClient, request: HttpRequest, context: str
    ) -> contextlib.AbstractAsyncContextManager[httpx2.Response]:
        headers = [(name, value) for name, value in request.headers if name.lower() not in HOP_HEADERS]
        headers.append(("x-amzn-request-context", context))
        target = request.path + (f"?{request.query}" if request.query else "")
        return client.stream(request.method, target, headers=headers, content=request.body or None)

    async def _ensure_started(self) -> httpx2.AsyncClient:
        async with self._starting:
            if self._client is None or self._process is None or not self._process.alive:
                await self.close()
                self._process, self._client = await self._start()
            return self._client

    async def _start(self) -> tuple[Process, httpx2.AsyncClient]:
        port = find_free_port()
        environ = build_function_environment(self.spec, self._base)
        search_path = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
        environ |= {"AWS_LWA_PORT": str(port), "PORT": str(port), "PATH": search_path}
        command = [str(self.spec.code_root / self.spec.handler)]
        process = await Process.start(
            command, cwd=self.spec.code_root, environ=environ, write_line=self._write_line, leashed=True
        )
        if not await wait_until_listening(process, port, self._start_seconds):
            await process.kill()
            raise AdapterError(f"{self.spec.name} did not listen: {process.describe_exit()}")
        url = f"http://127.0.0.1:{port}"
        return process, httpx2.AsyncClient(base_url=url, timeout=self.spec.timeout, trust_env=False)
