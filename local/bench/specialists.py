"""What a turn of each specialist costs beside the model: its time, and what its stages ask of the database."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from local.bench.counting_proxy import CountingProxy
from local.bench.figures import Table, median, milliseconds
from local.bench.queries import settle, start_proxies
from local.bench.requests import ORIA, REQUESTS, SIMULATION, SUGGESTION, Request
from local.bench.scripted_model import run_scripted_model
from local.bench.testbed import STAGES, WORKERS, BenchError, Testbed, TurnTimes, start_testbed
from local.bench.turn_overhead import PAUSE_SECONDS, spread
from local.cloud.faults import AT_ONCE, DeliveryKind, NoFaults

TURNS, WARMING, COUNTED = 20, 4, 4
# As long as people talk to one specialist, and shorter than what makes the supervisor write a summary.
CONVERSATION_TURNS = 5
MEMORY = "MemoryFunction"
READ_TURN_SQL = "select usage, outcome from oria.turns where id = %s"


class WithoutMemory(NoFaults):
    """In a cloud memory is updated on another machine; here it would take the stages' processor time."""

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:  # noqa: ARG002
        return () if MEMORY in target else AT_ONCE


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Time, then statements and round trips: the counting proxies would cost time."""
    async with run_scripted_model() as model:
        options = write_options(model)
        async with start_testbed(**options) as bed:
            timed = await time_requests(bed, say)
        async with start_proxies(WORKERS, **options) as (proxies, bed):
            counted = [await count_request(bed, proxies, request, say) for request in REQUESTS]
    return [show_times(timed), show_counts(counted)]


def write_options(model: Mapping[str, str]) -> dict[str, Any]:
    """A cloud with the product's assistants and the bench's, the sample tenant, and the scripted model as provider."""
    return {
        "assistants": "local.bench.assistant:list_all",
        "sample_tenant": True,
        "user": dict(model),
        "faults": WithoutMemory(),
    }


class Talk:
    """Turns of one request, in conversations of a usual length."""

    def __init__(self, bed: Testbed, request: Request) -> None:
        self._bed = bed
        self._conversation: UUID | None = None
        self.request = request
        self.times: list[TurnTimes] = []

    async def run_turn(self) -> None:
        """The request once more. Raises BenchError when it does not complete."""
        if self._conversation is None or len(self.times) % CONVERSATION_TURNS == 0:
            self._conversation = await open_conversation(self._bed, self.request)
        self.times.append(await self._bed.run_turn(self._conversation, self.request.message))


async def open_conversation(bed: Testbed, request: Request) -> UUID:
    """A conversation with the request's assistant. A simulation is suggested first and then started."""
    if request.assistant != SIMULATION:
        return await bed.converse(request.assistant)
    suggestion = next(each for each in REQUESTS if each.name == SUGGESTION)
    turn_id = (await bed.run_turn(await bed.converse(ORIA), suggestion.message)).turn_id
    [row] = await bed.query(READ_TURN_SQL, turn_id)
    [card] = row["outcome"]["cards"]
    return await bed.converse(request.assistant, simulation_id=card["simulation_id"])


async def time_requests(bed: Testbed, say: Callable[[str], None]) -> list[list[str]]:
    """A row for each request. They take turns, so that whatever else the machine does slows all of them alike."""
    say(f"{WARMING} turns of each request to warm up, {TURNS} timed")
    talks = [Talk(bed, request) for request in REQUESTS]
    for number in range(WARMING + TURNS):
        if number == WARMING:
            say("warm")
        for talk in talks:
            await talk.run_turn()
            await asyncio.sleep(PAUSE_SECONDS)
    return [await write_row(bed, talk) for talk in talks]


async def write_row(bed: Testbed, talk: Talk) -> list[str]:
    """The whole turn, its stages, and how often a model was asked."""
    [row] = await bed.query(READ_TURN_SQL, talk.times[-1].turn_id)
    check_outcome(talk.request, row)
    calls = sum(tally["calls"] for tally in row["usage"].values())
    return write_times(talk.request.name, talk.times[WARMING:], calls)


def check_outcome(request: Request, row: Mapping[str, Any]) -> None:
    """Raises BenchError when the tool was not called or did nothing, so that the figures would be of another turn."""
    text = row["outcome"]["text"]
    if row["outcome"]["type"] != "message" or "Error:" in text:
        raise BenchError(f"{request.name}: {text[:200]}")


def write_times(name: str, times: Sequence[TurnTimes], calls: int) -> list[str]:
    stages = [sum_stage([each.steps for each in times], stage) for stage in STAGES]
    return [name, *spread([each.total for each in times]), *stages, str(calls)]


def sum_stage(steps: Sequence[Mapping[str, float]], stage: str) -> str:
    """The median of a stage, from its claim to the next one or the end; nothing for a turn that has no such stage."""
    sums = [sum(seconds for step, seconds in each.items() if step.startswith(f"{stage} →")) for each in steps]
    return milliseconds(median(sums)) if any(sums) else ""


async def count_request(
    bed: Testbed, proxies: Mapping[str, CountingProxy], request: Request, say: Callable[[str], None]
) -> list[str]:
    """A row of the counts: statements and round trips of each stage, means of a few turns."""
    say(f"{request.name}: {COUNTED} turns counted")
    talk = Talk(bed, request)
    for _ in range(CONVERSATION_TURNS - COUNTED):
        await talk.run_turn()
    await settle()
    for proxy in proxies.values():
        proxy.wire.reset()
    for _ in range(COUNTED):
        await talk.run_turn()
    await settle()
    return [request.name, *(write_counts(proxies[name]) for name in STAGES.values())]


def write_counts(proxy: CountingProxy) -> str:
    """Statements and round trips of a turn; nothing for a stage that it does not have."""
    statements, round_trips = proxy.wire.statements.total() / COUNTED, proxy.wire.round_trips / COUNTED
    return f"{statements:.1f} / {round_trips:.1f}" if statements else ""


def show_times(rows: Sequence[Sequence[str]]) -> Table:
    columns = ["", "p50", "p95", *STAGES, "model calls"]
    notes = [
        "Accepted → completed; each stage from its claim to the next (medians). No aim: the tools' own work is inside,",
        "and so is what the model client does for each call. The plain turn, of table 1, has the aim.",
        "person_disambiguation: the look-up, then supervisor and career_chat once more.",
    ]
    return Table(f"Specialists on the sample tenant, model time zero ({TURNS} turns)", columns, rows, notes)


def show_counts(rows: Sequence[Sequence[str]]) -> Table:
    notes = [f"As in table 3, housekeeping included. Means of {COUNTED} turns."]
    return Table("Specialists: statements / round trips of each stage", ["", *STAGES], rows, notes)
