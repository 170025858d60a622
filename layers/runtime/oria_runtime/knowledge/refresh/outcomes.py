"""What a refresh learns of documents that it does not swap: unchanged, failed, missing, gone.

Everything here runs inside a transaction of the caller, which has checked its lease.
"""

from uuid import UUID

from oria_runtime.db.pool import Connection
from oria_runtime.knowledge.documents import Document, RefreshKey, Status, derive_document_id
from oria_runtime.knowledge.refresh.limits import FORGET_SECONDS, GRACE_SECONDS

# Validators are those of the version that is indexed: where they still hold, it is the current one.
CONFIRM_DOCUMENT_SQL = """
update knowledge_documents set status = 'indexed', reason = null, missing_since = null, checked_at = now(),
    refresh_id = %(refresh)s, etag = coalesce(%(etag)s, etag),
    last_modified = coalesce(%(last_modified)s, last_modified)
where id = %(id)s
"""
FAIL_DOCUMENT_SQL = """
insert into knowledge_documents as kept (id, tenant_id, source_id, location, status, reason, refresh_id)
values (%(id)s, current_setting('app.tenant')::uuid, %(source)s, %(location)s, %(status)s, %(reason)s, %(refresh)s)
on conflict (id) do update set status = excluded.status, reason = excluded.reason, refresh_id = excluded.refresh_id,
    checked_at = now(), missing_since = null,
    etag = case when %(judged)s then null else kept.etag end,
    last_modified = case when %(judged)s then null else kept.last_modified end,
    body_hash = case when %(judged)s then null else kept.body_hash end
"""
MISS_DOCUMENT_SQL = """
update knowledge_documents set reason = 'gone', missing_since = coalesce(missing_since, now()), checked_at = now()
where source_id = %s and location = %s and status <> 'gone'
"""
MISS_UNLISTED_SQL = """
update knowledge_documents set missing_since = coalesce(missing_since, now()),
    reason = case when missing_since is not null and reason = 'gone' then reason else 'unlisted' end
where source_id = %(source)s and refresh_id is distinct from %(refresh)s and status <> 'gone'
"""
READ_OVERDUE_SQL = f"""
select id from knowledge_documents
where source_id = %(source)s and refresh_id is distinct from %(refresh)s and status <> 'gone'
    and (%(at_once)s
        or missing_since < now() - interval '{GRACE_SECONDS} seconds' and (reason = 'gone' or not %(partial)s))
order by id limit %(most)s
"""  # noqa: S608 - a constant
BURY_DOCUMENTS_SQL = """
update knowledge_documents set status = 'gone', etag = null, last_modified = null, body_hash = null, links = '[]',
    changed_at = now()
where id = any(%s)
"""
DELETE_FORGOTTEN_SQL = f"""
delete from knowledge_documents
where source_id = %s and status = 'gone' and changed_at < now() - interval '{FORGET_SECONDS} seconds'
"""  # noqa: S608 - a constant
DELETE_CHUNKS_SQL = "delete from knowledge_chunks where document_id = any(%s)"


async def confirm_document(
    connection: Connection, key: RefreshKey, document: Document, etag: str | None, last_modified: str | None
) -> None:
    """The indexed version is the current one; validators that came with that answer replace the stored ones."""
    arguments = {"refresh": key.refresh_id, "id": document.id, "etag": etag, "last_modified": last_modified}
    await connection.execute(CONFIRM_DOCUMENT_SQL, arguments)


async def fail_document(
    connection: Connection, key: RefreshKey, location: str, status: Status, reason: str, *, judged: bool = False
) -> None:
    """Say why there is no new version, and keep the old one.

    `judged`: a new version was there and cannot be indexed, so that the stored validators must not be sent again.
    """
    arguments = {
        "id": derive_document_id(key.source_id, location),
        "source": key.source_id,
        "refresh": key.refresh_id,
        "location": location,
        "status": status,
        "reason": reason,
        "judged": judged,
    }
    await connection.execute(FAIL_DOCUMENT_SQL, arguments)


async def miss_document(connection: Connection, source_id: UUID, location: str) -> bool:
    """The server says that a document is not there (any more): its grace begins. False when none was known."""
    return (await connection.execute(MISS_DOCUMENT_SQL, (source_id, location))).rowcount > 0


async def miss_unlisted(connection: Connection, key: RefreshKey) -> int:
    """Begin the grace of every document that a whole refresh did not meet; answers how many are missing."""
    arguments = {"source": key.source_id, "refresh": key.refresh_id}
    return (await connection.execute(MISS_UNLISTED_SQL, arguments)).rowcount


async def bury_overdue(connection: Connection, key: RefreshKey, *, partial: bool, at_once: bool, most: int) -> int:
    """Remove the passages of documents whose grace is over; answers how many, at most `most`. After a `partial` refresh
    only those that the server denies: the others may be listed where it could not be read. `at_once`: what this refresh
    did not meet has no grace."""
    arguments = {
        "source": key.source_id,
        "refresh": key.refresh_id,
        "partial": partial,
        "at_once": at_once,
        "most": most,
    }
    rows = await (await connection.execute(READ_OVERDUE_SQL, arguments)).fetchall()
    ids = [row["id"] for row in rows]
    if ids:
        await connection.execute(DELETE_CHUNKS_SQL, (ids,))
        await connection.execute(BURY_DOCUMENTS_SQL, (ids,))
    return len(ids)


async def delete_forgotten(connection: Connection, source_id: UUID) -> None:
    """Documents that have been gone for long are not listed any more."""
    await connection.execute(DELETE_FORGOTTEN_SQL, (source_id,))
