"""How a refresh ends: what it did not meet, the next date, and what an administrator reads."""

import random
from typing import Any

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.refresh.lease import Claim
from oria_runtime.knowledge.refresh.limits import GONE_PER_TRANSACTION, JITTER, QUEUED_SECONDS
from oria_runtime.knowledge.refresh.outcomes import bury_overdue, delete_forgotten, miss_unlisted
from oria_runtime.knowledge.refresh.visits import delete_visits
from oria_runtime.knowledge.refresh.work import Work
from oria_runtime.observability import count

END_REFRESH_SQL = """
update knowledge_refreshes set status = %(status)s, error = %(error)s, partial = %(partial)s, finished_at = now()
where id = %(refresh)s
"""
# A refresh that was asked for while this one ran is due at once, and its message is sent next.
END_LEASE_SQL = f"""
update knowledge_sources set lease = null, lease_expires_at = null,
    queued_until = case when requested then now() + interval '{QUEUED_SECONDS} seconds' end,
    next_refresh_at = case when requested then now() else now() + make_interval(secs => %(seconds)s) end
where id = %(source)s and lease = %(token)s
returning requested
"""  # noqa: S608 - constants only


async def complete_refresh(work: Work, rng: random.Random) -> None:
    """All visits are made: documents that none of them met begin their grace, and those whose grace is over end."""
    claim = work.claim
    while await bury_some(work):
        continue
    async with work.write() as connection:
        if not claim.partial:
            await miss_unlisted(connection, claim.key)
        await delete_forgotten(connection, claim.key.source_id)
        await end_refresh(connection, claim, rng, "completed", None)
    report(claim, "completed")


async def bury_some(work: Work) -> int:
    """Remove the passages of some documents whose grace is over; answers how many. A transaction holds few of them,
    because their chunks may be many."""
    claim = work.claim
    added: dict[str, int] = {}
    # An upload's listing is our own bucket's, and whoever deletes a file there means it.
    at_once = claim.kind == "upload" and not claim.partial
    async with work.write(added) as connection:
        added["gone"] = await bury_overdue(
            connection, claim.key, partial=claim.partial, at_once=at_once, most=GONE_PER_TRANSACTION
        )
    return added["gone"]


async def fail_refresh(work: Work, rng: random.Random, reason: str, detail: str) -> None:
    """End it as failed: what is indexed stays, and the next date tries again."""
    async with work.write() as connection:
        await end_refresh(connection, work.claim, rng, "failed", {"reason": reason, "detail": detail})
    report(work.claim, "failed")


async def end_refresh(
    connection: Connection, claim: Claim, rng: random.Random, status: str, error: dict[str, Any] | None
) -> None:
    """Close the refresh, forget its visits, give the lease back, and note whether another one was asked for."""
    arguments = {
        "status": status,
        "error": None if error is None else Jsonb(error),
        "partial": claim.partial,
        "refresh": claim.key.refresh_id,
        "source": claim.key.source_id,
        "token": claim.token,
        "seconds": claim.cadence_seconds * rng.uniform(1 - JITTER, 1 + JITTER),
    }
    await delete_visits(connection, claim.key.refresh_id)
    await connection.execute(END_REFRESH_SQL, arguments)
    row = await (await connection.execute(END_LEASE_SQL, arguments)).fetchone()
    claim.requested = row is not None and row["requested"]


def report(claim: Claim, status: str) -> None:
    """Metrics of a refresh: one for itself, one for each outcome of its documents and chunks."""
    count("knowledge_refreshes", status=status, kind=claim.kind)
    for outcome, number in claim.counts.items():
        if number:
            count("knowledge_refreshed", number, outcome=outcome)
