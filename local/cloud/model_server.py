"""The offline model as a child process, when the user has configured no provider."""

import sys

from local.cloud.http_server import find_free_port
from local.cloud.logs import LogFiles
from local.cloud.options import ROOT, CloudOptions
from local.cloud.process import Process, wait_until_listening

START_SECONDS = 60.0
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
        if not await wait_until_listening(self._process, port, START_SECONDS):
            raise ModelServerError(f"the offline model did not start, see {self._logs.folder}/offline-model.log")
        self.url = f"http://127.0.0.1:{port}/v1"

    async def close(self) -> None:
        if self._process is not None:
            await self._process.stop(STOP_SECONDS)
