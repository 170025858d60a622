"""One visit: what a location holds now, and what that means for its document.

Every way out is one transaction that also marks the visit as done, so that a worker that dies has either finished a
visit or not begun it.
"""

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.documents import Document, Status
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.policy import Fetched
from oria_runtime.knowledge.refresh.failing import settle_failure, settle_missing
from oria_runtime.knowledge.refresh.limits import VISIT_ATTEMPTS, VISIT_WAITS
from oria_runtime.knowledge.refresh.outcomes import confirm_document
from oria_runtime.knowledge.refresh.versions import flush, prepare_version
from oria_runtime.knowledge.refresh.visits import Visit, postpone
from oria_runtime.knowledge.refresh.work import Arrival, Work

# Later it may be there again; every other reason is the location's own.
UNREACHABLE = frozenset({"timeout", "unreachable", "unresolved", "tls", "truncated", "retry_later"})
SERVER_ERROR = 500
# Nothing to index, and no fault of anybody.
EMPTY = frozenset({"empty", "no_text"})


async def make_visit(work: Work, visit: Visit) -> None:
    """Visit a location. Raises RefreshFailedError when the refresh cannot go on, LeaseLostError when it must not.

    New versions wait to be embedded with others (`versions.flush`). Whatever leads on to other locations is written
    after them, so that the order in which locations are met follows from the documents alone.
    """
    if visit.attempts >= VISIT_ATTEMPTS:
        await flush(work)
        await settle_failure(work, visit, "refused", "crashed", judged=True)
        return
    document = work.known.get(visit.location)
    try:
        fetched = await work.place.fetch(visit, document, work.done)
    except FetchError as error:
        await flush(work)
        await settle_fetch_error(work, visit, error)
        return
    arrival = Arrival(visit, fetched)
    if fetched.location in work.done:
        await flush(work)
        await settle_alias(work, arrival)
    elif document is not None and is_unchanged(fetched, document):
        if document.links and visit.depth < work.claim.max_depth:
            await flush(work)
        await confirm(work, arrival, document)
    else:
        await read_version(work, arrival)


async def read_version(work: Work, arrival: Arrival) -> None:
    """A version that is not indexed: prepare it, or say why it cannot be."""
    try:
        await prepare_version(work, arrival)
    except ExtractionError as error:
        await flush(work)
        status: Status = "empty" if error.reason in EMPTY else "refused"
        await settle_failure(work, arrival.visit, status, error.reason, judged=True)


def is_unchanged(fetched: Fetched, document: Document) -> bool:
    """Whether the answer is the version that is indexed: the server says so, or else the bytes do."""
    if fetched.location != document.served_from:
        return False
    return fetched.not_modified or fetched.body_hash == document.body_hash


async def confirm(work: Work, arrival: Arrival, document: Document) -> None:
    """The indexed version is the current one."""
    validators = arrival.fetched.validators
    async with work.write({"unchanged": 1}) as connection, connection.pipeline():
        await confirm_document(connection, work.claim.key, document, validators.etag, validators.last_modified)
        await work.finish(connection, arrival, document.id, document.location, document.links)
    work.done.update([*arrival.spellings, document.location])


async def settle_alias(work: Work, arrival: Arrival) -> None:
    """The location leads to one that was visited before: another spelling of its document, if it has one."""
    location = arrival.fetched.location
    document = await work.find(location)
    async with work.write() as connection, connection.pipeline():
        if document is None:
            await work.finish(connection, arrival, None, location, ())
        else:
            await work.finish(connection, arrival, document.id, document.location, ())
    work.done.update(arrival.spellings)


async def settle_fetch_error(work: Work, visit: Visit, error: FetchError) -> None:
    """What it means that a location could not be had. Raises RefreshFailedError when it is the source's entry."""
    # Without a status the host was not even asked: it had said so of another location.
    asked = error.status is not None
    if error.reason == "retry_later" and error.retry_at is not None and (visit.waits < VISIT_WAITS or not asked):
        async with work.write() as connection:
            await postpone(connection, work.claim.key.refresh_id, visit.location, error.retry_at, asked=asked)
    elif error.reason == "gone":
        await settle_missing(work, visit)
    else:
        await settle_failure(work, visit, *judge_fetch_error(error))


def judge_fetch_error(error: FetchError) -> tuple[Status, str]:
    """The status and the reason that a document gets."""
    if error.reason == "status":
        status = error.status or SERVER_ERROR
        return ("unreachable" if status >= SERVER_ERROR else "refused"), f"status_{status}"
    return ("unreachable" if error.reason in UNREACHABLE else "refused"), error.reason
