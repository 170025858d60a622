"""Administration of a tenant's knowledge: where it comes from, what was read, what searches found."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from oria_runtime.documents.formats import SUPPORTED
from oria_runtime.http import administering, limits
from oria_runtime.http.documentation import LOCATION, problems
from oria_runtime.http.requests import ChangedSource, NewSource
from oria_runtime.http.responses import (
    FileUploadView,
    KnowledgeDocumentPage,
    KnowledgeFileList,
    KnowledgeFileView,
    KnowledgeMetrics,
    KnowledgeSourceList,
    KnowledgeSourceView,
    RefreshList,
)
from oria_runtime.http.routes.parameters import DocumentName, SourceId
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import Administrator
from oria_runtime.knowledge import overview, sources
from oria_runtime.knowledge.limits import QUERY_DAYS

router = APIRouter(prefix="/knowledge", tags=["knowledge"], route_class=CallerRoute)

Limit = Annotated[int, Query(ge=1, le=limits.PAGE, description="How many at most.")]
Status = Annotated[
    Literal["indexed", "empty", "refused", "unreachable", "gone"] | None, Query(description="Only documents like that.")
]
After = Annotated[UUID | None, Query(description="`next_cursor` of the page before this one.")]
Days = Annotated[int, Query(ge=1, le=QUERY_DAYS, description="Today and the days before it.")]
# As for documents of conversations: the body is no model, or FastAPI would read it as JSON.
BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in (*SUPPORTED, "application/octet-stream")
        },
    }
}


@router.post(
    "/sources",
    operation_id="createSource",
    summary="Add a source",
    status_code=201,
    responses=problems(403, 409, body=True) | {201: {"headers": LOCATION}},
)
async def create_source(caller: Administrator, body: NewSource, response: Response) -> KnowledgeSourceView:
    """Its first refresh starts at once. A rule that the location breaks is named in `errors`."""
    created = await administering.create_source(caller, body)
    response.headers["Location"] = caller.services.link("knowledge", "sources", created.source.id)
    return KnowledgeSourceView.of(created)


@router.get("/sources", operation_id="listSources", summary="The tenant's sources", responses=problems(403))
async def list_sources(caller: Administrator) -> KnowledgeSourceList:
    """By name, with their documents by status and their last refresh."""
    found = await administering.list_sources(caller)
    return KnowledgeSourceList(items=[KnowledgeSourceView.of(each) for each in found])


@router.get("/sources/{source_id}", operation_id="readSource", summary="One source", responses=problems(403, 404))
async def read_source(caller: Administrator, source_id: SourceId) -> KnowledgeSourceView:
    """`last_refresh` is the running one while there is one; its `counts` grow."""
    return KnowledgeSourceView.of(await administering.read_source(caller, source_id))


@router.patch(
    "/sources/{source_id}",
    operation_id="changeSource",
    summary="Change, disable or enable a source",
    responses=problems(403, 404, 409, body=True),
)
async def change_source(caller: Administrator, source_id: SourceId, body: ChangedSource) -> KnowledgeSourceView:
    """A disabled source is neither refreshed nor found; what was indexed is kept."""
    return KnowledgeSourceView.of(await administering.change_source(caller, source_id, body))


@router.delete(
    "/sources/{source_id}",
    operation_id="deleteSource",
    summary="Delete a source and what it brought",
    status_code=204,
    responses=problems(403, 404),
)
async def delete_source(caller: Administrator, source_id: SourceId) -> None:
    """Documents, passages and uploaded files are gone; a refresh at work stops."""
    await administering.delete_source(caller, source_id)


@router.post(
    "/sources/{source_id}/refresh",
    operation_id="refreshSource",
    summary="Refresh a source now",
    status_code=202,
    responses=problems(403, 404, 409),
)
async def refresh_source(caller: Administrator, source_id: SourceId) -> KnowledgeSourceView:
    """Follow it in `last_refresh` of the source."""
    return KnowledgeSourceView.of(await administering.request_refresh(caller, source_id))


@router.get(
    "/sources/{source_id}/refreshes",
    operation_id="listRefreshes",
    summary="The history of a source",
    responses=problems(403, 404, 422),
)
async def list_refreshes(caller: Administrator, source_id: SourceId, limit: Limit = limits.DEFAULT_PAGE) -> RefreshList:
    """The newest first; the last hundred are kept."""
    async with caller.database.transaction() as connection:
        await sources.read_source(connection, source_id)
        found = await overview.list_refreshes(connection, source_id, limit)
    return RefreshList.model_validate({"items": found})


@router.get(
    "/sources/{source_id}/documents",
    operation_id="listSourceDocuments",
    summary="The documents of a source",
    responses=problems(403, 404, 422),
)
async def list_documents(
    caller: Administrator,
    source_id: SourceId,
    status: Status = None,
    after: After = None,
    limit: Limit = limits.DEFAULT_PAGE,
) -> KnowledgeDocumentPage:
    """By location; `status` and `reason` say what became of each."""
    async with caller.database.transaction() as connection:
        await sources.read_source(connection, source_id)
        items, cursor = await overview.list_documents(connection, source_id, status=status, after=after, limit=limit)
    return KnowledgeDocumentPage.model_validate({"items": items, "next_cursor": cursor})


@router.get(
    "/sources/{source_id}/files",
    operation_id="listFiles",
    summary="The files of an upload source",
    responses=problems(403, 404, 409),
)
async def list_files(caller: Administrator, source_id: SourceId) -> KnowledgeFileList:
    """By name."""
    found = await administering.list_files(caller, source_id)
    items = [KnowledgeFileView(name=name, bytes=each.bytes, changed_at=each.changed_at) for name, each in found]
    return KnowledgeFileList(items=items)


@router.put(
    "/sources/{source_id}/files/{name}",
    operation_id="writeFile",
    summary="Add or replace a file",
    status_code=204,
    responses=problems(403, 404, 409, body=True),
    openapi_extra=BODY,
)
async def write_file(caller: Administrator, source_id: SourceId, name: DocumentName, request: Request) -> None:
    """The body is the file (PDF, DOCX, Markdown, text; at most 4.5 MB). A refresh of its source starts."""
    await administering.write_file(caller, source_id, name, request)


@router.delete(
    "/sources/{source_id}/files/{name}",
    operation_id="deleteFile",
    summary="Delete a file",
    status_code=204,
    responses=problems(403, 404, 409, 422),
)
async def delete_file(caller: Administrator, source_id: SourceId, name: DocumentName) -> None:
    """Its passages are not found any more."""
    await administering.delete_file(caller, source_id, name)


@router.post(
    "/sources/{source_id}/files/{name}/upload",
    operation_id="createFileUpload",
    summary="Permission to upload a large file",
    status_code=201,
    responses=problems(403, 404, 409, 415, 422),
)
async def create_file_upload(caller: Administrator, source_id: SourceId, name: DocumentName) -> FileUploadView:
    """Send the file to `url` as the answer says, within 15 minutes, then refresh the source."""
    return FileUploadView.model_validate(await administering.prepare_file(caller, source_id, name))


@router.get(
    "/metrics", operation_id="readKnowledgeMetrics", summary="What searches found", responses=problems(403, 422)
)
async def read_metrics(caller: Administrator, days: Days = 30) -> KnowledgeMetrics:
    """Day by day: searches, those that found nothing, how long they took, and which sources they found."""
    return KnowledgeMetrics.model_validate({"items": await administering.read_metrics(caller, days)})
