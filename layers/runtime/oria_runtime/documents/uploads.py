"""Large files: a presigned POST puts them into a bucket, and the API takes them from there (DESIGN §6).

The object's key is made of tenant, conversation and upload id, so that no id reaches another's file. The bucket drops
what nobody takes within a day.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from oria_runtime.documents.limits import UPLOAD_BYTES, UPLOAD_SECONDS
from oria_runtime.documents.rows import Place
from oria_runtime.errors import ConflictError, TooLargeError, UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

SECONDS = 5.0
# HEAD has no body, so its codes are numbers.
MISSING = frozenset({"404", "NoSuchKey", "NotFound"})
CHANGED = frozenset({"412", "PreconditionFailed"})
NOT_THERE = "Nothing has been uploaded under this id, or it was taken or dropped already."


@dataclass(frozen=True)
class Upload:
    """Where and how to send one file: a multipart form of `fields`, then the part `file`."""

    upload_id: UUID
    url: str
    fields: Mapping[str, str]
    expires_at: datetime
    max_bytes: int = UPLOAD_BYTES


class UploadBucket:
    """The bucket of uploads. Its SDK is imported by the first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _client(self) -> "S3Client":
        return open_storage()

    async def prepare(self, place: Place) -> Upload:
        """Permission to upload one file, for a quarter of an hour and up to the size limit, which S3 enforces."""
        upload_id = uuid4()
        expires_at = datetime.now(UTC) + timedelta(seconds=UPLOAD_SECONDS)
        signed = await self._call(self._sign, find_key(place, upload_id))
        return Upload(upload_id, signed["url"], signed["fields"], expires_at)

    def _sign(self, key: str) -> dict[str, Any]:
        return self._client.generate_presigned_post(
            self._name,
            key,
            Conditions=[["content-length-range", 1, UPLOAD_BYTES], ["starts-with", "$Content-Type", ""]],
            ExpiresIn=UPLOAD_SECONDS,
        )

    async def read(self, place: Place, upload_id: UUID) -> bytes:
        """The uploaded file. Raises ConflictError when it is not there, TooLargeError before it is downloaded."""
        data: bytes = await self._call(self._read, find_key(place, upload_id))
        return data

    def _read(self, key: str) -> bytes:
        head = self._client.head_object(Bucket=self._name, Key=key)
        if head["ContentLength"] > UPLOAD_BYTES:
            raise TooLargeError(f"The uploaded file is larger than {UPLOAD_BYTES} bytes.")
        # The very object that was measured: the permission to upload may be used again meanwhile.
        found = self._client.get_object(Bucket=self._name, Key=key, IfMatch=head["ETag"])
        return found["Body"].read()

    async def drop(self, place: Place, upload_id: UUID) -> None:
        """Delete an upload; one that is not there is deleted."""
        await self._call(self._drop, find_key(place, upload_id))

    def _drop(self, key: str) -> None:
        self._client.delete_object(Bucket=self._name, Key=key)

    async def _call(self, function: Any, *arguments: Any) -> Any:
        with storage_errors():
            return await asyncio.to_thread(function, *arguments)


def open_storage() -> "S3Client":
    """A client of S3. Signature 4 against the bucket's own region: the global address redirects, and a form cannot
    follow."""
    import boto3
    from botocore.config import Config

    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": "virtual"},
        connect_timeout=SECONDS,
        read_timeout=SECONDS,
        retries={"total_max_attempts": 2},
    )
    return boto3.client("s3", config=config)


def find_key(place: Place, upload_id: UUID) -> str:
    """The object's key; it begins with the tenant, as everything that crosses tenants does."""
    return f"{place.database.tenant_id}/{place.conversation_id}/{upload_id}"


@contextmanager
def storage_errors() -> Iterator[None]:
    """S3's errors as ours. Raises ConflictError for what is not there, UnavailableError for an S3 that is away."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in MISSING | CHANGED:
            raise ConflictError(NOT_THERE) from error
        if error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500 or code == "SlowDown":
            raise UnavailableError("The storage of files is not answering.") from error
        raise
    except BotoCoreError as error:
        raise UnavailableError("The storage of files is not answering.") from error
