"""Documents of a conversation."""

from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from oria_runtime.documents import rows
from oria_runtime.documents.formats import SUPPORTED, Claims, read_claims
from oria_runtime.documents.names import check_name
from oria_runtime.documents.rows import Place
from oria_runtime.http.documentation import LOCATION, problems
from oria_runtime.http.receiving import receive_document
from oria_runtime.http.requests import TakenUpload
from oria_runtime.http.responses import DocumentList, DocumentTextView, DocumentView, UploadView
from oria_runtime.http.routes.parameters import ConversationId, DocumentName
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller

router = APIRouter(prefix="/conversations/{conversation_id}/documents", tags=["documents"], route_class=CallerRoute)

# The body is no model: FastAPI would read a file of any type as JSON.
BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in SUPPORTED}
        | {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "application/json": {"schema": TakenUpload.model_json_schema()},
        },
    }
}
STORED: Final[dict[str, Any]] = {"description": "The name is new.", "model": DocumentView, "headers": LOCATION}


@router.get("", operation_id="listDocuments", summary="The conversation's documents", responses=problems(404))
async def list_documents(caller: CurrentCaller, conversation_id: ConversationId) -> DocumentList:
    """The oldest first, without their texts."""
    documents = await rows.list_documents(Place(caller.database, caller.user_id, conversation_id))
    return DocumentList.model_validate({"items": documents})


@router.put(
    "/{name}",
    operation_id="writeDocument",
    summary="Add or replace a document",
    responses=problems(404, 409, body=True)
    | {200: {"description": "The document of this name is replaced.", "headers": LOCATION}, 201: STORED},
    openapi_extra=BODY,
)
async def write_document(
    caller: CurrentCaller, conversation_id: ConversationId, name: DocumentName, request: Request, response: Response
) -> DocumentView:
    """The body is the file (PDF, DOCX, Markdown, text; at most 4.5 MB), or JSON with the `upload_id` of a larger one.

    Only the text is kept. The name's ending and the content must agree; a scanned PDF has no text (422, `no_text`).
    """
    place = Place(caller.database, caller.user_id, conversation_id)
    document, created = await receive_document(caller, place, name, request)
    response.status_code = 201 if created else 200
    response.headers["Location"] = caller.services.link(
        "conversations", conversation_id, "documents", quote(document.name, safe="")
    )
    return DocumentView.model_validate(document)


@router.get("/{name}", operation_id="readDocument", summary="One document and its text", responses=problems(404))
async def read_document(caller: CurrentCaller, conversation_id: ConversationId, name: DocumentName) -> DocumentTextView:
    """The text as it was extracted, whole."""
    document = await rows.read_document(Place(caller.database, caller.user_id, conversation_id), name)
    return DocumentTextView.model_validate(document)


@router.delete(
    "/{name}",
    operation_id="deleteDocument",
    summary="Delete a document",
    status_code=204,
    responses=problems(404),
)
async def delete_document(caller: CurrentCaller, conversation_id: ConversationId, name: DocumentName) -> None:
    """What earlier turns quoted from it stays in the transcript."""
    await rows.delete_document(Place(caller.database, caller.user_id, conversation_id), name)


@router.post(
    "/{name}/upload",
    operation_id="createUpload",
    summary="Permission to upload a large file",
    status_code=201,
    responses=problems(404, 415, 422),
)
async def create_upload(caller: CurrentCaller, conversation_id: ConversationId, name: DocumentName) -> UploadView:
    """Send the file to `url` as the answer says, within 15 minutes, then PUT the document with its
    `upload_id`, within a day."""
    # A file that could never be taken is refused before it travels.
    read_claims(Claims(check_name(name)))
    place = Place(caller.database, caller.user_id, conversation_id)
    await rows.check_place(place)
    return UploadView.model_validate(await caller.services.uploads.prepare(place))
