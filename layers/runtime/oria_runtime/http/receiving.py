"""From a request to a stored document: the file itself as the body, or the id of one that was uploaded before."""

from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request

from oria_runtime.documents.extraction import extract
from oria_runtime.documents.formats import Claims
from oria_runtime.documents.names import check_name
from oria_runtime.documents.rows import Document, Place, check_place, find_document, store_document
from oria_runtime.errors import ConflictError, InvalidRequestError
from oria_runtime.http.bodies import parse_json, read_bytes
from oria_runtime.http.requests import TakenUpload
from oria_runtime.http.services import Caller
from oria_runtime.observability import count, describe, logger

JSON = "application/json"
REPLACEMENT = "\ufffd".encode()


async def receive_document(caller: Caller, place: Place, name: str, request: Request) -> tuple[Document, bool]:
    """The stored document, and whether its name is new.

    The conversation is looked up first: nothing is read for somebody who does not own it. Raises NotFoundError,
    ExtractionError, InvalidRequestError, TooLargeError, and ConflictError for an upload that is not there.
    """
    name = check_name(name)
    await check_place(place)
    body = await read_bytes(request)
    media_type = request.headers.get("content-type", "")
    if media_type.partition(";")[0].strip().lower() == JSON:
        return await take_upload(caller, place, name, read_upload_id(body))
    check_whole(request, body)
    return await keep(place, name, body, media_type)


def check_whole(request: Request, body: bytes) -> None:
    """Refuse a file that API Gateway has damaged: without a content type on its list (template.yaml) it takes the body
    for text and replaces what is not UTF-8. Raises InvalidRequestError (415)."""
    event = request.scope.get("aws.event")
    if event is not None and not event.get("isBase64Encoded") and REPLACEMENT in body:
        raise InvalidRequestError("Send the file with its content type, or as application/octet-stream.", status=415)


def read_upload_id(body: bytes) -> UUID:
    """The id in a JSON body. Raises InvalidRequestError, RequestValidationError, ConflictError for a malformed id."""
    try:
        taken = TakenUpload.model_validate(parse_json(body))
    except ValidationError as error:
        problems = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
        raise RequestValidationError(problems) from error
    try:
        return UUID(taken.upload_id)
    except ValueError as error:
        raise ConflictError("There is no such upload.") from error


async def take_upload(caller: Caller, place: Place, name: str, upload_id: UUID) -> tuple[Document, bool]:
    """The document of an upload. Taken again, also when the first answer was lost, it is the same document."""
    uploads = caller.services.uploads
    try:
        data = await uploads.read(place, upload_id)
    except ConflictError:
        # Asked only now: of two requests at once, one may have taken the file while the other looked.
        stored = await find_document(place, name)
        if stored is None or stored.upload_id != upload_id:
            raise
        return stored, False
    kept = await keep(place, name, data, "", upload_id)
    try:
        await uploads.drop(place, upload_id)
    except Exception as error:  # noqa: BLE001 - the document is stored; the bucket drops the file by itself in a day
        logger.warning("upload not deleted", extra=describe(error))
    return kept


async def keep(
    place: Place, name: str, data: bytes, media_type: str, upload_id: UUID | None = None
) -> tuple[Document, bool]:
    """Extract and store."""
    extracted = await extract(data, Claims(name, media_type))
    stored = await store_document(place, name, extracted, size=len(data), upload_id=upload_id)
    count("documents", media_type=extracted.media_type)
    return stored
