"""Whether a long conversation costs more than a short one: time and bytes of turn 10, 100 and 500."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from local.bench.engine import EngineInProcess
from local.bench.figures import Table, judge, kilobytes, median, milliseconds
from local.bench.testbed import USER, Testbed, start_testbed

MARKS = (10, 100, 500)
# Of each kind at each mark; together about one period of the window, which grows and is cut.
SAMPLES = 8
WARMING = 8
FACTOR_AIM = 1.3
MESSAGE = "What should I learn next?"

THREAD_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
TURN_TABLES = {"turns": "id", "messages": "turn_id", "turn_events": "turn_id", "outbox": "turn_id"}
THREAD_SQL = " + ".join(
    f"(select coalesce(sum(pg_column_size(t.*)), 0) from oria.{table} t where thread_id = %(thread)s)"  # noqa: S608
    for table in THREAD_TABLES
)
OURS_SQL = " + ".join(
    f"(select coalesce(sum(pg_column_size(t.*)), 0) from oria.{table} t where {key} in (select id from c))"  # noqa: S608
    for table, key in TURN_TABLES.items()
)
SIZES_SQL = f"""
with c as (select id from oria.turns where conversation_id = %(conversation)s)
select {THREAD_SQL} as thread, {OURS_SQL} as ours
"""  # noqa: S608 - constants only
WRITTEN_SQL = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes"


@dataclass(frozen=True)
class Mark:
    """A conversation of `turns` turns. `thread` is all that LangGraph's tables hold of it, `ours` all that our own do,
    in bytes; the samples are of later turns: seconds, and bytes of the write-ahead log."""

    conversation: UUID
    turns: int
    thread: int
    ours: int
    workers: list[float] = field(default_factory=list)
    engine: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)

    @property
    def kept(self) -> float:
        """Everything that is kept, per turn."""
        return (self.thread + self.ours) / self.turns


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Grow conversations with the engine in this process, then run turns of all of them in rotation, so that whatever
    else the machine does slows all of them alike."""
    async with start_testbed() as bed:
        engine = EngineInProcess(bed.urls.app, bed.tenant_id, USER)
        try:
            grown = []
            for turns in MARKS:
                say(f"growing a conversation to turn {turns}")
                grown.append(await grow(bed, engine, turns))
            say(f"{SAMPLES} turns of each through the workers, {SAMPLES} in one process")
            await rotate(bed, engine, grown)
        finally:
            await engine.close()
    return [compare(grown)]


async def grow(bed: Testbed, engine: EngineInProcess, turns: int) -> Mark:
    """A conversation of that many turns, and what it takes on the disk."""
    conversation = await bed.converse()
    for _ in range(turns):
        await engine.run_turn(conversation, MESSAGE)
    kept = await read_sizes(bed, conversation)
    return Mark(conversation, turns, kept["thread"], kept["ours"])


async def rotate(bed: Testbed, engine: EngineInProcess, marks: Sequence[Mark]) -> None:
    """Add the samples of every mark."""
    warming = await bed.converse()
    for _ in range(WARMING):
        await bed.run_turn(warming)
    for _ in range(SAMPLES):
        for mark in marks:
            before = await read_written(bed)
            mark.workers.append((await bed.run_turn(mark.conversation, MESSAGE)).total)
            mark.written.append(float(await read_written(bed) - before))
            mark.engine.append(await engine.run_turn(mark.conversation, MESSAGE))


async def read_sizes(bed: Testbed, conversation: UUID) -> dict[str, int]:
    """Bytes of the conversation's rows as they are stored: `thread` and `ours`."""
    arguments = {"conversation": conversation, "thread": f"{bed.tenant_id}:{conversation}"}
    row = await (await bed.connection.execute(SIZES_SQL.encode(), arguments)).fetchone()
    return {name: int(value) for name, value in (row or {}).items()}


async def read_written(bed: Testbed) -> int:
    """Bytes of write-ahead log so far."""
    (row,) = await bed.query(WRITTEN_SQL)
    return int(row["bytes"])


def compare(marks: Sequence[Mark]) -> Table:
    bounded = [
        show("time through three workers", [median(mark.workers) for mark in marks], milliseconds),
        show("time with the engine in one process", [median(mark.engine) for mark in marks], milliseconds),
        show("bytes kept per turn so far, everything", [mark.kept for mark in marks], kilobytes),
        show("  our rows, per turn", [mark.ours / mark.turns for mark in marks], kilobytes),
        show("bytes written per turn (write-ahead log)", [median(mark.written) for mark in marks], kilobytes),
    ]
    thread = show("LangGraph's rows, the whole thread", [mark.thread for mark in marks], kilobytes)[:-1]
    title = f"2. A long conversation, 4 messages a turn (medians of {SAMPLES} turns from each mark on)"
    note = "The thread is bounded by the window (60 messages); at turn 10 the window is not full yet."
    columns = ["", *(f"turn {mark.turns}" for mark in marks), "last/first", "aim"]
    return Table(title, columns, [*bounded, [*thread, ""]], [note])


def show(name: str, values: Sequence[float], form: Callable[[float], str]) -> list[str]:
    """A row: the values, how the last compares with the first, and the aim."""
    factor = values[-1] / values[0]
    return [name, *(form(value) for value in values), f"{factor:.2f} ×", judge(factor, FACTOR_AIM)]
