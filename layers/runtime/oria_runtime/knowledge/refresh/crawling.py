"""Visit after visit, until there is none left or no time."""

import asyncio
from collections.abc import Mapping
from typing import Any

from oria_runtime.knowledge.documents import find_documents
from oria_runtime.knowledge.indexes import prepare_indexes
from oria_runtime.knowledge.refresh.errors import RefreshFailedError
from oria_runtime.knowledge.refresh.limits import CLOSING_SECONDS, HANDOVER_SECONDS, SLEEP_SECONDS, VISIT_SECONDS
from oria_runtime.knowledge.refresh.versions import flush
from oria_runtime.knowledge.refresh.visiting import make_visit
from oria_runtime.knowledge.refresh.visits import Visit, add_visits, give_back, read_done, read_wait, take_visits
from oria_runtime.knowledge.refresh.work import Work
from oria_runtime.turns.invocation import Invocation

MARK_SEEDED_SQL = "update knowledge_refreshes set seeded = true, partial = %s where id = %s"


async def crawl(work: Work, model: str, address: Mapping[str, Any], invocation: Invocation) -> float | None:
    """Make the visits of a refresh with the tenant's embedding model, served at `address`.

    Answers None when all are made, else the seconds after which another invocation is to go on. Raises FetchError or
    RefreshFailedError when the source cannot be had, ModelError when its documents cannot be embedded, LeaseLostError.
    """
    if work.claim.overdue:
        raise RefreshFailedError("too_long", "The refresh did not end within a day.")
    async with work.write() as connection:
        await prepare_indexes(connection, model, address)
        work.done |= await read_done(connection, work.claim.key.refresh_id)
    if not work.claim.seeded:
        await seed(work, invocation)
    return await visit_all(work, invocation)


async def seed(work: Work, invocation: Invocation) -> None:
    """Make the first visits of what the source lists. A listing is read in one invocation or not at all: one that does
    not end in time would be begun again and again."""
    claim = work.claim
    try:
        async with asyncio.timeout(invocation.remaining() - HANDOVER_SECONDS):
            listing = await work.place.list(work.renew)
    except TimeoutError as error:
        raise RefreshFailedError("timeout", "It takes too long to read what the source lists.") from error
    async with work.write() as connection:
        await add_visits(connection, claim.key.refresh_id, listing.entries, depth=0, most=claim.max_documents)
        await connection.execute(MARK_SEEDED_SQL, (listing.partial, claim.key.refresh_id))
    claim.seeded, claim.partial = True, listing.partial


async def visit_all(work: Work, invocation: Invocation) -> float | None:
    """As `crawl`."""
    refresh_id = work.claim.key.refresh_id
    while (seconds := invocation.remaining() - HANDOVER_SECONDS) > 0:
        async with work.write() as connection:
            visits = await take_visits(connection, refresh_id)
            wait = None if visits else await read_wait(connection, refresh_id)
            locations = [visit.location for visit in visits]
            work.known = await find_documents(connection, work.claim.key.source_id, locations)
        if visits:
            if not await visit_some(work, visits, invocation):
                return 0.0
        elif wait is None:
            return None
        elif wait > min(seconds, SLEEP_SECONDS):
            return wait
        else:
            await asyncio.sleep(wait)
    return 0.0


async def visit_some(work: Work, visits: list[Visit], invocation: Invocation) -> bool:
    """Make these visits while there is time, and give the others back; False when one took too long.

    What took too long comes again, alone and with all the time of an invocation, and is given up at its third time.
    """
    for number, visit in enumerate(visits):
        if visit.location in work.done:
            continue
        await work.keep()
        if invocation.remaining() < HANDOVER_SECONDS:
            await flush(work)
            async with work.write() as connection:
                await give_back(connection, work.claim.key.refresh_id, visits[number:])
            return True
        try:
            async with asyncio.timeout(min(VISIT_SECONDS, invocation.remaining() - CLOSING_SECONDS)):
                await make_visit(work, visit)
                if work.is_full:
                    await flush(work)
        except TimeoutError:
            return False
    await work.keep()
    await flush(work)
    return True
