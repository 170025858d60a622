"""What is due goes to the queue: refreshes to start, refreshes whose worker died, index versions to go on with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psycopg import AsyncConnection

from oria_runtime.knowledge.refresh.limits import DUE_ENTRIES, QUEUED_SECONDS
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.queue import Entry, RefreshQueue
from oria_runtime.observability import count, describe, logger

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

TAKE_DUE_SQL = "select tenant_id, source_id, index_id from take_due_knowledge(%s, %s)"
UNMARK_SOURCE_SQL = "update knowledge_sources set queued_until = null where id = %s and lease is null"
UNMARK_INDEX_SQL = "update knowledge_indexes set queued_until = null where id = %s and lease is null"


async def enqueue_due(sandbox: "Sandbox", *, queue: RefreshQueue | None = None) -> int:
    """Send a message for everything that is due; answers how many the queue took.

    What is taken is marked as queued, so that a slow queue is not filled again; what the queue did not take is unmarked
    and due again in the next run. Raises when nothing could be sent at all.
    """
    queue = queue or RefreshQueue(sandbox.settings.refresh_queue_url)
    if sandbox.pool.closed:
        await sandbox.pool.open()
    async with sandbox.pool.connection() as connection:
        rows = await (await connection.execute(TAKE_DUE_SQL, (DUE_ENTRIES, QUEUED_SECONDS))).fetchall()
    messages = [RefreshMessage(**row) for row in rows]
    return sum(await send_marked(sandbox, queue, [Entry(message) for message in messages]))


async def send_marked(sandbox: "Sandbox", queue: RefreshQueue, entries: Sequence[Entry]) -> list[bool]:
    """Send messages whose sources or indexes are marked as queued, and unmark those that the queue did not take."""
    taken = [False] * len(entries)
    try:
        taken = await queue.send(entries) if entries else []
    finally:
        lost = [entry.message for entry, sent in zip(entries, taken, strict=True) if not sent]
        for message in lost:
            await unmark(sandbox, message)
        if lost:
            count("knowledge_messages_lost", len(lost))
    return taken


async def unmark(sandbox: "Sandbox", message: RefreshMessage) -> None:
    """The schedule is to find it again."""
    try:
        async with sandbox.database(message.tenant_id).transaction() as connection:
            await _unmark(connection, message)
    except OSError as error:
        # The mark ends by itself after QUEUED_SECONDS.
        logger.warning("not unmarked", extra={"tenant_id": str(message.tenant_id), **describe(error)})


async def _unmark(connection: AsyncConnection[Any], message: RefreshMessage) -> None:
    if message.source_id is not None:
        await connection.execute(UNMARK_SOURCE_SQL, (message.source_id,))
    else:
        await connection.execute(UNMARK_INDEX_SQL, (message.index_id,))
