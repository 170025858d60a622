"""A hundred people at once."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from local.bench.figures import Table, percentile
from local.bench.testbed import STAGES, Testbed, start_testbed

CONVERSATIONS = 100
# Workers of each function: with no model to wait for, more of them only take turns on the same cores.
CAPACITY = 4
READ_SQL = """
select extract(epoch from max(e.at) - min(t.created_at))::float8 as seconds from oria.turns t
join oria.turn_events e on e.turn_id = t.id where t.id = any(%s) and t.status = 'completed' group by t.id
"""
COUNT_SQL = "select count(*)::int as n from oria.turns where id = any(%s) and finished_at is not null"
LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Rush:
    """Seconds: each request until its 202, each turn until its end, and all of them together."""

    answered: list[float]
    turns: list[float]
    whole: float


async def measure(say: Callable[[str], None]) -> list[Table]:
    """A turn in each of a hundred conversations at the same moment, through warm workers."""
    async with start_testbed(capacity=CAPACITY) as bed:
        say("conversations, and workers warm")
        conversations = [await bed.converse() for _ in range(CONVERSATIONS)]
        for _ in range(2):
            await rush(bed, conversations[: 4 * CAPACITY])
        say(f"{CONVERSATIONS} messages at once")
        taken = await rush(bed, conversations)
        workers = {name: len(bed.cloud.workers(function)) for name, function in STAGES.items()}
    return [show(taken, workers)]


async def rush(bed: Testbed, conversations: list[UUID]) -> Rush:
    started = time.perf_counter()

    async def say(conversation: UUID) -> tuple[UUID, float]:
        turn_id = await bed.say(conversation)
        return turn_id, time.perf_counter() - started

    said = await asyncio.gather(*(say(conversation) for conversation in conversations))
    turn_ids = [turn_id for turn_id, _ in said]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await bed.query(COUNT_SQL, turn_ids))[0]["n"] < len(turn_ids):
            await asyncio.sleep(LOOK_SECONDS)
    whole = time.perf_counter() - started
    turns = [row["seconds"] for row in await bed.query(READ_SQL, turn_ids)]
    return Rush([answered for _, answered in said], turns, whole)


def show(taken: Rush, workers: dict[str, int]) -> Table:
    rows = [
        ["accepted (202)", *(f"{percentile(taken.answered, share):.2f} s" for share in (0.5, 0.95))],
        ["accepted → completed", *(f"{percentile(taken.turns, share):.2f} s" for share in (0.5, 0.95))],
        ["completed", f"{len(taken.turns)} of {CONVERSATIONS}", ""],
        ["throughput", f"{len(taken.turns) / taken.whole:.1f} turns/s", ""],
    ]
    counted = ", ".join(f"{count} {name}" for name, count in workers.items())
    note = f"{counted} workers; a request waits for one of the api's, a stage for one of its own."
    title = f"5. {CONVERSATIONS} conversations at once, model time zero ({taken.whole:.1f} s in all)"
    return Table(title, ["", "p50", "p95"], rows, [note])
