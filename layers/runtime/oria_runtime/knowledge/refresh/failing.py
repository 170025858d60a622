"""Visits without a new version: the old one stays, and the document says why."""

from collections.abc import Sequence

from oria_runtime.knowledge.documents import Status
from oria_runtime.knowledge.refresh.errors import RefreshFailedError
from oria_runtime.knowledge.refresh.outcomes import fail_document, miss_document
from oria_runtime.knowledge.refresh.visits import Visit, finish_visits
from oria_runtime.knowledge.refresh.work import Work


async def settle_missing(work: Work, visit: Visit) -> None:
    """There is nothing at a location. Its document keeps its passages until its grace is over (refresh.ending)."""
    if is_entry(work, visit):
        raise RefreshFailedError("gone", "The source's location answers that there is nothing.")
    key = work.claim.key
    async with work.write() as connection:
        await miss_document(connection, key.source_id, visit.location)
        await finish_visits(connection, key.refresh_id, [visit.location], visit.depth)
    work.done.add(visit.location)


async def settle_failure(
    work: Work, visit: Visit, status: Status, reason: str, *, judged: bool = False, links: Sequence[str] = ()
) -> None:
    """There is no new version, and the old one stays, with what it links to; `links` are those of the new one.

    `judged`: there is a new one, but it cannot be indexed. Raises RefreshFailedError when it is the source's entry; the
    document says the same then.
    """
    key, document = work.claim.key, await work.find(visit.location)
    # Another spelling may have led to the document in this refresh: then it is known to be well.
    is_met = document is not None and document.refresh_id == key.refresh_id
    async with work.write({} if is_met else {status: 1}) as connection:
        if not is_met:
            location = visit.location if document is None else document.location
            await fail_document(connection, key, location, status, reason, judged=judged)
        await finish_visits(connection, key.refresh_id, [visit.location], visit.depth)
        await work.follow(connection, visit, links or ([] if document is None else document.links))
    work.done.add(visit.location)
    if is_entry(work, visit) and status != "empty":
        raise RefreshFailedError(reason, "The source's location cannot be read.")


def is_entry(work: Work, visit: Visit) -> bool:
    """Whether everything else of the source is found from this location."""
    return work.place.has_entry and visit.depth == 0
