"""Tasks that nobody awaits: kept until they end, their errors printed, all cancelled together."""

import asyncio
import sys
import traceback
from collections.abc import Coroutine
from typing import Any


class BackgroundTasks:
    """The tasks of one part of the local cloud."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine; an error of it is a fault of the local cloud and is printed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    async def join(self) -> None:
        """Wait until every task has ended, those included that they start meanwhile."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def cancel(self) -> None:
        """Cancel all and wait for them."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            print("local cloud: " + "".join(traceback.format_exception(error)), file=sys.stderr, flush=True)
