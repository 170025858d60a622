"""Documents that are objects in S3: uploaded files, and the folders of customers.

The listing says of each object which version it is, so that what did not change is not even read.
"""

import hashlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, unquote

from oria_runtime.errors import ConflictError, TooLargeError, UnavailableError
from oria_runtime.knowledge.documents import Document
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.media import DOCUMENT_TYPES, find_media_type
from oria_runtime.knowledge.fetching.policy import Fetched, Validators
from oria_runtime.knowledge.files import ObjectStore, find_folder, name_upload
from oria_runtime.knowledge.locations import LOCATION_CHARACTERS
from oria_runtime.knowledge.refresh.errors import RefreshFailedError
from oria_runtime.knowledge.refresh.lease import Claim
from oria_runtime.knowledge.refresh.places import Listing, Renew
from oria_runtime.knowledge.refresh.visits import Visit
from oria_runtime.knowledge.rules import S3


@dataclass(frozen=True)
class ObjectPlace:
    """The objects of a store below a folder. A document's location is `base` and what follows the folder.

    `is_allowed` False: the tenant's configuration does not allow the folder, or does not any more.
    """

    store: ObjectStore
    folder: str
    base: str
    is_allowed: bool = True
    has_entry: bool = False

    async def list(self, renew: Renew) -> Listing:
        if not self.is_allowed:
            raise RefreshFailedError("not_allowed", "The tenant's configuration does not allow this folder.")
        await renew()
        with explain_storage():
            objects, more = await self.store.list_objects(self.folder)
        entries = [(self._name(each.key), each.etag) for each in objects]
        return Listing([entry for entry in entries if len(entry[0]) <= LOCATION_CHARACTERS], partial=more)

    async def fetch(self, visit: Visit, document: Document | None, _done: Container[str]) -> Fetched:
        location = visit.location
        if document is not None and document.location == location and visit.etag == document.etag is not None:
            return Fetched(location, (), True, Validators(document.etag), "", None, b"", "")
        with explain_storage():
            body, etag = await self.store.read(self._find_key(location))
        media_type = find_media_type("", location, body)
        if media_type not in DOCUMENT_TYPES:
            raise FetchError("unsupported", "The file is of a type that is not read.")
        digest = hashlib.sha256(body).hexdigest()
        return Fetched(location, (), False, Validators(etag), media_type, None, body, digest)

    def _name(self, key: str) -> str:
        return self.base + quote(key.removeprefix(self.folder))

    def _find_key(self, location: str) -> str:
        return self.folder + unquote(location.removeprefix(self.base))


def open_objects(claim: Claim, uploads: str) -> ObjectPlace:
    """Where an upload's or an S3 source's documents are; `uploads` is the bucket of uploaded files."""
    if claim.kind == "upload":
        return ObjectPlace(ObjectStore(uploads), find_folder(claim.tenant.id, claim.key.source_id), name_upload(""))
    location, allowed = claim.location or "", claim.tenant.config.knowledge.s3_prefixes
    is_allowed = any(location.startswith(f"{S3}{each.strip('/')}/") for each in allowed)
    bucket, _, folder = location.removeprefix(S3).partition("/")
    return ObjectPlace(ObjectStore(bucket), folder, location, is_allowed)


@contextmanager
def explain_storage() -> Iterator[None]:
    """Raise FetchError for what S3 answers."""
    # The SDK costs 150 ms; it is there once the store was used.
    from botocore.exceptions import ClientError

    try:
        yield
    except ConflictError as error:
        raise FetchError("gone", "The file is not there.") from error
    except TooLargeError as error:
        raise FetchError("too_large", error.detail) from error
    except UnavailableError as error:
        raise FetchError("unreachable", "S3 does not answer.") from error
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        raise FetchError("status", "S3 refuses to read there.", status=status) from error
