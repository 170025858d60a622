"""Starting the offline model: in the running event loop, in a thread, or as a process (`__main__`)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache

from local.offline_model.brain import OfflineBrain
from local.offline_model.wire.api import ModelApi
from local.offline_model.wire.server import serve

BANNER = (
    "offline model on {url}\n"
    "  a demonstration, not a judge: it compares sentences and repeats what it is given, without any language model.\n"
    "  Set OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible server, to use a real one."
)
PREFIX = "offline-"
PACE = 0.01
START_SECONDS = 30.0


@cache
def load_brain() -> OfflineBrain:
    """The one brain of a process; loading it takes a second or two."""
    brain = OfflineBrain()
    brain.load()
    return brain


def write_environ(url: str) -> dict[str, str]:
    """The environment of a process that shall use a server at this address."""
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "offline"}


@asynccontextmanager
async def serve_offline_model(port: int = 0, *, pace: float = 0.0) -> AsyncIterator[str]:
    """Serve in the running loop; gives the address without `/v1`. `pace` is the pause between words, in seconds."""
    brain = await asyncio.to_thread(load_brain)
    async with serve(ModelApi(brain, prefix=PREFIX, pace=pace).handle, port) as url:
        yield url


@contextmanager
def run_offline_model() -> Iterator[dict[str, str]]:
    """Serve in a thread of its own; gives the environment that names it."""
    ready = threading.Event()
    started: list[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        stop = asyncio.Event()
        async with serve_offline_model() as url:
            started.append((url, asyncio.get_running_loop(), stop))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="offline-model", daemon=True)
    thread.start()
    if not ready.wait(START_SECONDS):
        raise TimeoutError("the offline model did not start")
    url, loop, stop = started[0]
    try:
        yield write_environ(url)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(START_SECONDS)
