"""The offline model as a child process, when the user has configured no provider."""

import asyncio
import contextlib
import sys

from local.cloud.http_server import find_free_port
from local.cloud.logs import LogFiles
from local.cloud.options import ROOT, CloudOptions
from local.cloud.process import Process

START_SECONDS = 60.0
POLL_SECONDS = 0.05
STOP_SECONDS = 1.0


class ModelServerError(Exception):
    """The offline model did not start; its log says why."""


class ModelServer:
    """Runs `local.offline_model` on a free port."""

    def __init__(self, options: CloudOptions, logs: LogFiles) -> None:
        self._environ = {**options.user, "PYTHONUNBUFFERED": "1"}
        self._logs = logs
        self._process: Process | None = None
        self.url = ""

    async def start(self) -> None:
        """Start it and wait until it listens. Raises ModelServerError."""
        port = find_free_port()
        command = [sys.executable, "-m", "local.offline_model", "--port", str(port)]
        self._process = await Process.start(
            command,
            cwd=ROOT,
            environ=self._environ,
            write_line=lambda line: self._logs.write("offline-model", line),
            leashed=True,
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await self._wait_until_listening(port)
        if not self.url:
            raise ModelServerError(f"the offline model did not start, see {self._logs.folder}/offline-model.log")

    async def close(self) -> None:
        if self._process is not None:
            await self._process.stop(STOP_SECONDS)

    async def _wait_until_listening(self, port: int) -> None:
        while self._process is not None and self._process.alive:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                self.url = f"http://127.0.0.1:{port}/v1"
                return
            await asyncio.sleep(POLL_SECONDS)
