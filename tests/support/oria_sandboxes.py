"""Workers with an event loop of their own, as every Lambda has: a stage cancels what else is on its loop at its end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from oria_runtime.sandbox import Sandbox
from tests.support.engine import Engine

Result = TypeVar("Result")


async def run_apart(engine: Engine, work: Callable[[Sandbox], Awaitable[Result]]) -> Result:
    """Give `work` a fresh sandbox in a thread of its own; its result."""
    return await asyncio.to_thread(_run, engine, work)


async def drain_apart(engine: Engine) -> list[dict[str, Any]]:
    """Run everything that is on the engine's bus in a worker of its own."""
    return await run_apart(engine, engine.drain)


def _run(engine: Engine, work: Callable[[Sandbox], Awaitable[Result]]) -> Result:
    sandbox = Sandbox({"DATABASE_URL": engine.urls.app}, registry=engine.registry, publisher=engine.bus)

    async def run() -> Result:
        try:
            return await work(sandbox)
        finally:
            await sandbox.close()

    try:
        return sandbox.run(run())
    finally:
        sandbox.loop.close()
