"""Objects in S3 that are documents: the files of upload sources, and the folders of customers.

A file of an upload source is at `{tenant}/{source}/{name}` of our own bucket, so that no name reaches another's.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

from oria_runtime.documents.limits import UPLOAD_BYTES, UPLOAD_SECONDS
from oria_runtime.documents.uploads import open_storage, storage_errors
from oria_runtime.errors import ConflictError, TooLargeError, UnavailableError
from oria_runtime.knowledge.limits import FILES, LISTED_OBJECTS

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import DeleteTypeDef


@dataclass(frozen=True)
class StoredObject:
    """An object as a listing shows it. `etag` is S3's, with its quotes."""

    key: str
    etag: str
    bytes: int
    changed_at: datetime


@dataclass(frozen=True)
class FileUpload:
    """Where and how to send one file: a multipart form of `fields`, then the part `file`."""

    url: str
    fields: Mapping[str, str]
    expires_at: datetime
    max_bytes: int = UPLOAD_BYTES


def find_folder(tenant_id: UUID, source_id: UUID) -> str:
    """The prefix of an upload source's files."""
    return f"{tenant_id}/{source_id}/"


def name_upload(name: str) -> str:
    """The location of an uploaded file's document, which no browser can open."""
    return f"upload:/{quote(name, safe='')}"


class ObjectStore:
    """One bucket. Its SDK is imported by the first use.

    Everything raises UnavailableError when S3 is away, and botocore's ClientError for a bucket that refuses.
    """

    def __init__(self, bucket: str) -> None:
        self.bucket = bucket

    @cached_property
    def _client(self) -> "S3Client":
        return open_storage()

    async def list_objects(self, prefix: str) -> tuple[list[StoredObject], bool]:
        """The objects below a prefix by key, and whether there are more than are listed."""
        objects: list[StoredObject] = []
        after = ""
        while len(objects) < LISTED_OBJECTS:
            answer = await self._call(self._list, prefix, after)
            objects += [
                StoredObject(item["Key"], item["ETag"], item["Size"], item["LastModified"])
                for item in answer.get("Contents", [])
                # Consoles store folders as empty objects.
                if not item["Key"].endswith("/")
            ]
            if not answer["IsTruncated"]:
                return objects[:LISTED_OBJECTS], len(objects) > LISTED_OBJECTS
            after = answer["Contents"][-1]["Key"]
        return objects[:LISTED_OBJECTS], True

    def _list(self, prefix: str, after: str) -> Any:
        return self._client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, StartAfter=after)

    async def read(self, key: str) -> tuple[bytes, str]:
        """The object and its ETag. Raises ConflictError when it is not there, TooLargeError before it is downloaded."""
        found: tuple[bytes, str] = await self._call(self._read, key)
        return found

    def _read(self, key: str) -> tuple[bytes, str]:
        answer = self._client.get_object(Bucket=self.bucket, Key=key)
        with answer["Body"] as body:
            if answer["ContentLength"] > UPLOAD_BYTES:
                raise TooLargeError(f"The file is larger than {UPLOAD_BYTES} bytes.")
            return body.read(), answer["ETag"]

    async def write(self, key: str, data: bytes, media_type: str) -> None:
        """Store an object under this key, in place of one that is there."""
        await self._call(self._write, key, data, media_type)

    def _write(self, key: str, data: bytes, media_type: str) -> None:
        self._client.put_object(Bucket=self.bucket, Key=key, Body=data, ContentType=media_type)

    async def delete(self, key: str) -> None:
        """Delete an object; one that is not there is deleted. Raises UnavailableError when it is still there."""
        await self._call(self._delete, [key])

    async def delete_folder(self, prefix: str) -> None:
        """Delete everything below a prefix. Raises UnavailableError when something is still there."""
        found, more = await self.list_objects(prefix)
        while found:
            # DeleteObjects takes a thousand keys.
            for start in range(0, len(found), 1_000):
                await self._call(self._delete, [each.key for each in found[start : start + 1_000]])
            found, more = await self.list_objects(prefix) if more else ([], False)

    def _delete(self, keys: Sequence[str]) -> None:
        request: DeleteTypeDef = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        # S3 answers 200 with the objects that it did not delete.
        if errors := self._client.delete_objects(Bucket=self.bucket, Delete=request).get("Errors"):
            codes = ", ".join(sorted({error.get("Code", "") for error in errors}))
            raise UnavailableError(f"{len(errors)} files were not deleted ({codes}). Try again.")

    async def prepare_upload(self, key: str) -> FileUpload:
        """Permission to upload one file to a key, for a quarter of an hour and up to the size limit."""
        expires_at = datetime.now(UTC) + timedelta(seconds=UPLOAD_SECONDS)
        signed = await self._call(self._sign, key)
        return FileUpload(signed["url"], signed["fields"], expires_at)

    def _sign(self, key: str) -> dict[str, Any]:
        return self._client.generate_presigned_post(
            self.bucket,
            key,
            Conditions=[["content-length-range", 1, UPLOAD_BYTES], ["starts-with", "$Content-Type", ""]],
            ExpiresIn=UPLOAD_SECONDS,
        )

    async def check_room(self, prefix: str, key: str) -> None:
        """Raises ConflictError when another file under the prefix would be one too many."""
        found, _ = await self.list_objects(prefix)
        if len(found) >= FILES and all(each.key != key for each in found):
            raise ConflictError(f"The source has {FILES} files already; delete one first.")

    async def _call(self, function: Any, *arguments: Any) -> Any:
        with storage_errors():
            return await asyncio.to_thread(function, *arguments)
