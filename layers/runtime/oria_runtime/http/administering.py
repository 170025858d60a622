"""What administrators do with sources of knowledge, each as one call: rows, files, and what starts a refresh."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from starlette.requests import Request

from oria_runtime.documents.extraction import extract
from oria_runtime.documents.formats import Claims, read_claims
from oria_runtime.documents.limits import ExtractionLimits
from oria_runtime.documents.names import check_name
from oria_runtime.errors import ConflictError, InvalidRequestError, NotFoundError, Violation
from oria_runtime.http import requests
from oria_runtime.http.bodies import read_bytes
from oria_runtime.http.receiving import check_whole
from oria_runtime.http.services import Caller
from oria_runtime.knowledge import sources
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.files import FileUpload, StoredObject, find_folder, name_upload
from oria_runtime.knowledge.locations import LOCATION_CHARACTERS
from oria_runtime.knowledge.overview import SourceOverview, describe_sources
from oria_runtime.knowledge.queries import QueryDay, read_query_metrics
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.queue import Entry
from oria_runtime.knowledge.rules import check_place
from oria_runtime.knowledge.sources import NewSource, Source, SourceChange
from oria_runtime.observability import describe, logger

# A file is taken here exactly when the refresh will read it.
READ: Final = ContentLimits()
LIMITS: Final = ExtractionLimits(pages=READ.pages, characters=READ.characters)


async def create_source(caller: Caller, body: requests.NewSource) -> SourceOverview:
    """Store a source and start its first refresh. Raises InvalidRequestError with every rule that it breaks,
    ConflictError for a name that is taken."""
    tenant = await caller.read_tenant()
    location, scope = check_place(
        body.kind,
        body.location,
        body.origins,
        body.path_prefixes,
        s3_prefixes=tenant.config.knowledge.s3_prefixes,
        allow_loopback=caller.services.sandbox.settings.allow_loopback,
    )
    limits = (body.max_depth, body.max_documents, body.cadence_seconds)
    new = NewSource(body.name, body.kind, location, scope, *limits)
    async with caller.database.transaction() as connection:
        source = await sources.create_source(connection, new, caller.user_id)
    await send_refresh(caller, source.id)
    return SourceOverview(source, {}, None)


async def list_sources(caller: Caller) -> list[SourceOverview]:
    """All sources of the tenant."""
    async with caller.database.transaction() as connection:
        return await describe_sources(connection, await sources.list_sources(connection))


async def read_source(caller: Caller, source_id: UUID) -> SourceOverview:
    """One source. Raises NotFoundError."""
    async with caller.database.transaction() as connection:
        found = await sources.read_source(connection, source_id)
        return (await describe_sources(connection, [found]))[0]


async def change_source(caller: Caller, source_id: UUID, body: requests.ChangedSource) -> SourceOverview:
    """Change a source; one that is enabled again is refreshed at once. Raises NotFoundError, ConflictError."""
    change = SourceChange(**body.model_dump())
    async with caller.database.transaction() as connection:
        changed = await sources.change_source(connection, source_id, change)
        overview = (await describe_sources(connection, [changed]))[0]
    if change.status == "active":
        await send_refresh(caller, source_id)
    return overview


async def request_refresh(caller: Caller, source_id: UUID) -> SourceOverview:
    """Refresh a source now; while a refresh runs, the next one follows it. Raises NotFoundError, ConflictError."""
    async with caller.database.transaction() as connection:
        await sources.request_refresh(connection, source_id)
        found = await sources.read_source(connection, source_id)
        overview = (await describe_sources(connection, [found]))[0]
    await send_refresh(caller, source_id)
    return overview


async def send_refresh(caller: Caller, source_id: UUID) -> None:
    """Save a due source the wait for the schedule, which finds it when the queue is away."""
    message = RefreshMessage(caller.identity.tenant_id, source_id)
    try:
        await caller.services.refresh_queue.send([Entry(message)])
    except Exception as error:  # noqa: BLE001 - the row says that the source is due, and the schedule looks at rows
        logger.warning("refresh not sent", extra=describe(error) | {"source_id": str(source_id)})


async def delete_source(caller: Caller, source_id: UUID) -> None:
    """Delete a source with everything that it brought. Interrupted, it is disabled and can be deleted again.

    Raises NotFoundError.
    """
    async with caller.database.transaction() as connection:
        source = await sources.disable_source(connection, source_id)
    if source.kind == "upload":
        await caller.services.knowledge_files.delete_folder(name_folder(caller, source_id))
    more = True
    while more:
        async with caller.database.transaction() as connection:
            more = await sources.delete_documents(connection, source_id)
    async with caller.database.transaction() as connection:
        await sources.delete_source(connection, source_id)


async def list_files(caller: Caller, source_id: UUID) -> Sequence[tuple[str, StoredObject]]:
    """The names and objects of an upload source. Raises NotFoundError, ConflictError for another kind."""
    folder = name_folder(caller, (await find_upload_source(caller, source_id)).id)
    found, _ = await caller.services.knowledge_files.list_objects(folder)
    return [(each.key.removeprefix(folder), each) for each in found]


async def write_file(caller: Caller, source_id: UUID, name: str, request: Request) -> None:
    """Store a file and refresh its source. What cannot be read is refused now, not found out by the refresh.

    Raises NotFoundError, ConflictError, ExtractionError, TooLargeError.
    """
    name = check_file_name(name)
    await find_upload_source(caller, source_id)
    body = await read_bytes(request)
    check_whole(request, body)
    extracted = await extract(body, Claims(name, request.headers.get("content-type", "")), LIMITS)
    folder = name_folder(caller, source_id)
    store = caller.services.knowledge_files
    await store.check_room(folder, folder + name)
    await store.write(folder + name, body, extracted.media_type)
    try:
        await request_refresh(caller, source_id)
    except NotFoundError:
        # The source was deleted while the file came: nobody else would find and delete it.
        await store.delete(folder + name)
        raise


async def delete_file(caller: Caller, source_id: UUID, name: str) -> None:
    """Delete a file with its document, and refresh its source. Raises NotFoundError, ConflictError."""
    name = check_name(name)
    await find_upload_source(caller, source_id)
    await caller.services.knowledge_files.delete(name_folder(caller, source_id) + name)
    async with caller.database.transaction() as connection:
        await sources.delete_document(connection, source_id, name_upload(name))
    await request_refresh(caller, source_id)


async def prepare_file(caller: Caller, source_id: UUID, name: str) -> FileUpload:
    """Permission to upload a large file. Raises NotFoundError, ConflictError, ExtractionError."""
    name = check_file_name(name)
    # A file that could never be read is refused before it travels.
    read_claims(Claims(name))
    await find_upload_source(caller, source_id)
    folder = name_folder(caller, source_id)
    store = caller.services.knowledge_files
    await store.check_room(folder, folder + name)
    return await store.prepare_upload(folder + name)


def check_file_name(name: str) -> str:
    """The normalized name of a new file. Raises InvalidRequestError."""
    name = check_name(name)
    if len(name_upload(name)) > LOCATION_CHARACTERS:
        raise InvalidRequestError("The file's name cannot be used.", [Violation("/path/name", "is too long")])
    return name


async def find_upload_source(caller: Caller, source_id: UUID) -> Source:
    """An active upload source. Raises NotFoundError, ConflictError for another kind or a disabled one."""
    async with caller.database.transaction() as connection:
        source = await sources.read_source(connection, source_id)
    if source.kind != "upload":
        raise ConflictError("Only sources of the kind upload have files.")
    if source.status != "active":
        raise ConflictError("The source is disabled; enable it first.")
    return source


def name_folder(caller: Caller, source_id: UUID) -> str:
    """Where the files of a source are."""
    return find_folder(caller.identity.tenant_id, source_id)


async def read_metrics(caller: Caller, days: int) -> list[QueryDay]:
    """What searches found in the last days, today included."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    async with caller.database.transaction() as connection:
        return await read_query_metrics(connection, today - timedelta(days=days - 1))
