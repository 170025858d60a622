"""The caller's bearer token, sealed for the tools of one turn (DESIGN §2.3).

KMS encrypts at most 4,096 bytes and tokens with group claims are larger, hence a data key: KMS makes it, AES-GCM uses
it, and only its encrypted form is kept beside the ciphertext. The encryption context binds both to tenant and turn.

    version (1 byte) | length of the encrypted key (2, big-endian) | encrypted key | nonce (12) | ciphertext
"""

import asyncio
import os
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from oria_runtime.errors import ConfigurationError, OriaError, UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_kms.type_defs import DecryptResponseTypeDef, GenerateDataKeyResponseTypeDef

VERSION = b"\x01"
NONCE_BYTES = 12
KEY_LENGTH_BYTES = 2
KMS_TIMEOUT_SECONDS = 3


class SealBrokenError(OriaError):
    """A sealed value is not what was sealed for this tenant and turn."""

    code = "seal_broken"


class ContextSealer:
    """Seals and unseals tokens with one KMS key. The client is made on first use: most invocations need none."""

    def __init__(self, key_id: str, client: "KMSClient | None" = None) -> None:
        self._key_id = key_id
        self._client = client

    async def seal(self, token: str, *, tenant_id: UUID, turn_id: UUID) -> bytes:
        """One value to store. Raises UnavailableError when KMS does not answer, ConfigurationError without a key."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if not self._key_id:
            raise ConfigurationError("KMS_KEY_ID is not set")
        context = _encryption_context(tenant_id, turn_id)
        key = await asyncio.to_thread(self._generate, context)
        nonce = os.urandom(NONCE_BYTES)
        ciphertext = AESGCM(key["Plaintext"]).encrypt(nonce, token.encode(), _associated_data(context))
        wrapped = key["CiphertextBlob"]
        return VERSION + len(wrapped).to_bytes(KEY_LENGTH_BYTES, "big") + wrapped + nonce + ciphertext

    async def unseal(
        self, sealed: bytes | None, expires_at: datetime | None, *, tenant_id: UUID, turn_id: UUID, now: datetime
    ) -> str | None:
        """The token, or None when none was sealed or it has expired ("sign in again" is the tool's answer then).

        Raises SealBrokenError when the value was sealed for another tenant or turn or was changed, UnavailableError
        when KMS does not answer.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if sealed is None or (expires_at is not None and expires_at <= now):
            return None
        context = _encryption_context(tenant_id, turn_id)
        wrapped, nonce, ciphertext = _split(sealed)
        key = await asyncio.to_thread(self._decrypt, wrapped, context)
        try:
            return AESGCM(key["Plaintext"]).decrypt(nonce, ciphertext, _associated_data(context)).decode()
        except InvalidTag as error:
            raise SealBrokenError("the sealed context does not open") from error

    def _generate(self, context: dict[str, str]) -> "GenerateDataKeyResponseTypeDef":
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return self._kms().generate_data_key(KeyId=self._key_id, KeySpec="AES_256", EncryptionContext=context)
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("The key service is not answering.") from error

    def _decrypt(self, wrapped: bytes, context: dict[str, str]) -> "DecryptResponseTypeDef":
        from botocore.exceptions import BotoCoreError, ClientError

        client = self._kms()
        try:
            return client.decrypt(CiphertextBlob=wrapped, EncryptionContext=context)
        except client.exceptions.InvalidCiphertextException as error:
            raise SealBrokenError("the sealed context does not open") from error
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("The key service is not answering.") from error

    def _kms(self) -> "KMSClient":
        if self._client is None:
            import boto3
            from botocore.config import Config

            seconds = KMS_TIMEOUT_SECONDS
            config = Config(connect_timeout=seconds, read_timeout=seconds, retries={"total_max_attempts": 2})
            self._client = boto3.client("kms", config=config)
        return self._client


def _encryption_context(tenant_id: UUID, turn_id: UUID) -> dict[str, str]:
    return {"tenant": str(tenant_id), "turn": str(turn_id)}


def _associated_data(context: dict[str, str]) -> bytes:
    return f"{context['tenant']}:{context['turn']}".encode()


def _split(sealed: bytes) -> tuple[bytes, bytes, bytes]:
    key_at = len(VERSION) + KEY_LENGTH_BYTES
    nonce_at = key_at + int.from_bytes(sealed[len(VERSION) : key_at], "big")
    text_at = nonce_at + NONCE_BYTES
    if not sealed.startswith(VERSION) or len(sealed) <= text_at:
        raise SealBrokenError("the sealed context is malformed")
    return sealed[key_at:nonce_at], sealed[nonce_at:text_at], sealed[text_at:]
