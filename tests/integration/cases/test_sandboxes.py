"""Handlers as Lambda calls them: plain calls, no loop of anybody else's, again and again (CASES 41 and 42)."""

import asyncio
import threading
import warnings
from typing import Any
from uuid import UUID

import pytest

from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.models import TurnStatus
from tests.support.database import DatabaseUrls
from tests.support.engine import Bus, Engine, prepare_lab
from tests.support.lab import ASSISTANTS


def run_five_turns(urls: DatabaseUrls, tenant: UUID, found: dict[str, Any]) -> None:
    """Stages by plain calls in a thread without an event loop; warnings are errors here too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        sandbox = Sandbox({"DATABASE_URL": urls.app}, registry=ASSISTANTS, publisher=Bus())
        engine = Engine(urls, tenant, sandboxes=[sandbox])
        engine.bus = sandbox.publisher  # type: ignore[assignment]
        loops = set()
        for _ in range(5):
            turn = sandbox.run(engine.say("hello"))
            while engine.bus.events:
                event = engine.bus.events.pop(0)
                if event.detail_type == "turn.stage":
                    sandbox.run(engine.stage(event, sandbox))
                    loops.add(id(sandbox.loop))
            found.setdefault("status", []).append(sandbox.run(engine.turn(turn.id)).status)
        found["loops"] = len(loops)
        found["left"] = [task for task in asyncio.all_tasks(sandbox.loop) if "worker" not in task.get_name()]
        sandbox.run(sandbox.close())
        sandbox.loop.close()


async def test_stages_run_where_no_loop_is_and_share_one(database_urls: DatabaseUrls, tenant: UUID) -> None:
    prepare_lab(database_urls)
    found: dict[str, Any] = {}
    thread = threading.Thread(target=run_five_turns, args=(database_urls, tenant, found))
    thread.start()
    await asyncio.to_thread(thread.join)
    assert found["status"] == [TurnStatus.COMPLETED] * 5
    assert found["loops"] == 1
    assert all(belongs_to_pool(task) for task in found["left"]), found["left"]


def belongs_to_pool(task: "asyncio.Task[Any]") -> bool:
    """A pool's scheduler, and the task in which Python 3.11's `wait_for` lets it wait."""
    return "scheduler" in task.get_name() or getattr(task.get_coro(), "__qualname__", "") == "Event.wait"
