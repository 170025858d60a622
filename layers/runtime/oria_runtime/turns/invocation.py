"""One Lambda invocation: its id, its time, and leaving nothing behind.

A task that outlived its invocation would be frozen with the sandbox and thaw into another tenant's turn.
"""

import asyncio
import os
import time
from collections.abc import Coroutine, Set
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Result = TypeVar("Result")

# What the in-band deadline leaves for the decision, the outbox and the traces (DESIGN §2.1).
MARGIN_SECONDS = 1.5
# How long cancelled tasks may take to end. psycopg waits for a server's answer to its cancel request.
SETTLE_SECONDS = 1.0
SURVIVOR_EXIT_CODE = 70


@dataclass(frozen=True)
class Invocation:
    """`ends_at` is on the monotonic clock, in seconds."""

    request_id: str
    ends_at: float

    @classmethod
    def from_context(cls, context: "LambdaContext") -> "Invocation":
        """From the context that Lambda hands to a handler."""
        return cls(context.aws_request_id, time.monotonic() + context.get_remaining_time_in_millis() / 1000)

    def remaining(self) -> float:
        """Seconds until the in-band deadline."""
        return max(0.0, self.ends_at - MARGIN_SECONDS - time.monotonic())

    def margin(self) -> float:
        """Seconds that flushing may take now: what is left before the kill, less a little, at most the margin."""
        return max(0.0, min(MARGIN_SECONDS, self.ends_at - time.monotonic() - 0.2))


_marker: ContextVar[object | None] = ContextVar("oria_stage_marker", default=None)


def start_marked(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Start work whose tasks can be found again: what it starts inherits its context."""
    context = copy_context()
    context.run(_marker.set, object())
    return asyncio.create_task(work, context=context, name="stage")


def marked_tasks(task: asyncio.Task[Any]) -> set[asyncio.Task[Any]]:
    """What a marked task left on the loop.

    Python 3.11 does not show a task's context; there, only the task itself can be found. Lambda runs 3.13.
    """
    marker = _read_marker(task)
    return {each for each in asyncio.all_tasks() if _read_marker(each) is marker} if marker else set()


def _read_marker(task: asyncio.Task[Any]) -> object | None:
    get_context = getattr(task, "get_context", None)
    return get_context().get(_marker) if get_context else None


async def settle(tasks: Set[asyncio.Task[Any]]) -> bool:
    """Cancel tasks and wait for them; True when one survived."""
    running = {task for task in tasks if not task.done()}
    for task in running:
        task.cancel()
    if running:
        _, running = await asyncio.wait(running, timeout=SETTLE_SECONDS)
    return bool(running)


def end_process() -> None:
    """End the sandbox: Lambda starts a new one for the next event."""
    os._exit(SURVIVOR_EXIT_CODE)
