"""uvicorn as part of another program: on a socket of ours, without its signal handlers, stopped within a second."""

import asyncio
import contextlib
import socket
from collections.abc import Generator
from typing import Any

import uvicorn

START_POLL_SECONDS = 0.005


class PortInUseError(Exception):
    """Another program listens on the port."""


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        # The cloud stops everything in order; uvicorn's handlers would take Ctrl-C away from it.
        yield


class HttpServer:
    """Serves an ASGI application. The port is taken at once, so that its URL is known before there is one."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._socket = bind(host, port)
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        address = self._socket.getsockname()
        self.url = f"http://{address[0]}:{address[1]}"

    async def start(self, app: Any) -> None:
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1, ws="none"
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(START_POLL_SECONDS)

    async def close(self) -> None:
        """Stop listening; open responses are cut after a second."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task
        self._socket.close()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises PortInUseError naming the port."""
    # Named TCP: asyncio turns Nagle's algorithm off for such sockets only, and without that every answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Refuses the port to a second cloud from now on, not only when uvicorn gets to it.
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise PortInUseError(f"port {port} is in use") from error
    return listener


def find_free_port() -> int:
    """A port that is free now, for a child process that cannot report the one it took."""
    listener = bind("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    listener.close()
    return port
