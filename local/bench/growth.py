"""Whether a long conversation costs more than a short one: time and bytes of turn 10, 100 and 500."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from local.bench.engine import EngineInProcess
from local.bench.figures import Table, judge, kilobytes, median, milliseconds
from local.bench.testbed import USER, Testbed, start_testbed

MARKS = (10, 100, 500)
# Through the workers at each mark: about one period of the window, which grows and is cut.
SAMPLES = 12
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
select {THREAD_SQL} as thread, {OURS_SQL} as ours, (select count(*) from c) as turns
"""  # noqa: S608 - constants only
WRITTEN_SQL = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes"


@dataclass(frozen=True)
class Mark:
    """What turns cost at one length of the conversation. Times in seconds, sizes in bytes.

    `thread` is all that LangGraph's tables hold of the conversation, `ours` all that our own do.
    """

    turns: int
    workers: float
    engine: float
    thread: int
    ours: int
    written: float

    @property
    def kept(self) -> float:
        """Everything that is kept, per turn."""
        return (self.thread + self.ours) / self.turns


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Grow one conversation with the engine in this process; at each mark, some turns through the workers."""
    async with start_testbed() as bed:
        conversation, other = await bed.converse(), await bed.converse()
        for _ in range(WARMING):
            await bed.run_turn(other)
        engine = EngineInProcess(bed.urls.app, bed.tenant_id, USER)
        try:
            marks = [await reach(bed, engine, conversation, turns, say) for turns in MARKS]
        finally:
            await engine.close()
    return [compare(marks)]


async def reach(
    bed: Testbed, engine: EngineInProcess, conversation: UUID, turns: int, say: Callable[[str], None]
) -> Mark:
    """Let the conversation grow to that many turns and measure there."""
    say(f"growing to turn {turns}")
    times = [await engine.run_turn(conversation, MESSAGE) for _ in range(turns - await count_turns(bed, conversation))]
    kept = await read_sizes(bed, conversation)
    worked, written = [], []
    for _ in range(SAMPLES):
        before = await read_written(bed)
        worked.append((await bed.run_turn(conversation, MESSAGE)).total)
        written.append(float(await read_written(bed) - before))
    return Mark(turns, median(worked), median(times[-SAMPLES:]), kept["thread"], kept["ours"], median(written))


async def count_turns(bed: Testbed, conversation: UUID) -> int:
    return (await read_sizes(bed, conversation))["turns"]


async def read_sizes(bed: Testbed, conversation: UUID) -> dict[str, int]:
    """Bytes of the conversation's rows as they are stored: `thread`, `ours`; and its number of `turns`."""
    arguments = {"conversation": conversation, "thread": f"{bed.tenant_id}:{conversation}"}
    row = await (await bed.connection.execute(SIZES_SQL.encode(), arguments)).fetchone()
    return {name: int(value) for name, value in (row or {}).items()}


async def read_written(bed: Testbed) -> int:
    """Bytes of write-ahead log so far."""
    (row,) = await bed.query(WRITTEN_SQL)
    return int(row["bytes"])


def compare(marks: Sequence[Mark]) -> Table:
    bounded = [
        show("time through three workers", [mark.workers for mark in marks], milliseconds),
        show("time with the engine in one process", [mark.engine for mark in marks], milliseconds),
        show("bytes kept per turn so far, everything", [mark.kept for mark in marks], kilobytes),
        show("  our rows, per turn", [mark.ours / mark.turns for mark in marks], kilobytes),
        show("bytes written per turn (write-ahead log)", [mark.written for mark in marks], kilobytes),
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
