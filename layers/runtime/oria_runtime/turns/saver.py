"""The buffering saver: a graph's checkpoints stay in memory until the stage's one commit (DESIGN §2.1).

LangGraph writes the input checkpoint even when a node raises, times out or is cancelled. Here a stage that does not
commit leaves its thread as it was. Writes are serialised when LangGraph makes them, so the commit's transaction only
sends SQL.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.db.text import clean_json
from oria_runtime.errors import StageFailedError

Statement = tuple[Any, Any, bool]


class _Recorder:
    """Stands where the vendor's saver expects a cursor, and keeps what it would have executed."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []

    async def execute(self, query: Any, arguments: Any = None) -> None:
        self.statements.append((query, _clean(arguments), False))

    async def executemany(self, query: Any, arguments: Sequence[Any]) -> None:
        self.statements.append((query, [_clean(each) for each in arguments], True))


def _clean(arguments: Any) -> Any:
    """Text channels are stored in JSONB, where a NUL makes the whole write fail (langchain-ai/langgraph#1878)."""
    return tuple(Jsonb(clean_json(value.obj)) if isinstance(value, Jsonb) else value for value in arguments)


class BufferingSaver(AsyncPostgresSaver):
    """Reads from Postgres inside tenant transactions, keeps writes until `replay`.

    `expected_head` is the checkpoint that the turn row names (None: the thread has none yet). The first read of the
    thread must find exactly that one, else the stage fails: another graph or worker has been here. `state_types` are
    the classes that a checkpoint may bring back beside LangGraph's own safe ones; any other comes back as plain data,
    because reviving it would import and call whatever the stored bytes name (langchain-ai/langgraph#7533).
    """

    def __init__(
        self, database: TenantDatabase, expected_head: str | None, state_types: Collection[tuple[str, str]] = ()
    ) -> None:
        super().__init__(conn=database.pool, serde=JsonPlusSerializer(allowed_msgpack_modules=list(state_types)))
        self._database = database
        self._recorder = _Recorder()
        self._expected_head = expected_head
        self.loaded: CheckpointTuple | None = None
        self.head: str | None = expected_head

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[Any]:
        # The vendor's writes are the only users of `pipeline`; its reads and its lock (one per saver, which would
        # serialise parallel nodes, langchain-ai/langgraph#7259) are replaced here.
        if pipeline:
            yield self._recorder
            return
        async with self._database.transaction() as connection, connection.cursor(row_factory=dict_row) as cursor:
            yield cursor

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "BufferingSaver":
        """The same saver with more types: the vendor's is a copy, whose head and buffer nobody would commit."""
        self.serde = super().with_allowlist(extra_allowlist).serde
        return self

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        if not config["configurable"].get("checkpoint_ns") and "checkpoint_id" not in config["configurable"]:
            self._check_head(found)
        return found

    def _check_head(self, found: CheckpointTuple | None) -> None:
        head = found.config["configurable"]["checkpoint_id"] if found else None
        if head != self._expected_head:
            raise StageFailedError("thread_changed", "the thread's head is not the checkpoint that the turn names")
        self.loaded = found

    async def aput(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        stored = await super().aput(config, checkpoint, metadata, new_versions)
        if not config["configurable"].get("checkpoint_ns"):
            self.head = checkpoint["id"]
        return stored

    def pending_interrupts(self) -> list[Interrupt]:
        """The interrupts that the loaded checkpoint waits for."""
        writes = self.loaded.pending_writes if self.loaded else None
        found = [value for _, channel, value in writes or () if channel == "__interrupt__"]
        return [each for value in found for each in (value if isinstance(value, (list, tuple)) else [value])]

    async def replay(self, connection: Connection) -> None:
        """Execute the buffered writes, in order, in the commit's transaction."""
        async with connection.cursor() as cursor:
            for query, arguments, many in self._recorder.statements:
                if many:
                    await cursor.executemany(query, arguments)
                else:
                    await cursor.execute(query, arguments)
