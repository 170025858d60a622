"""AWS APIs by moto's server (SQS, KMS, Secrets Manager, S3), in a process of its own, and the calls the cloud makes."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import httpx2

from local.cloud.process import spawn
from local.cloud.resources import ACCOUNT, REGION

START_SECONDS = 30.0


class AwsError(Exception):
    """An AWS API answered with an error."""


class AwsEndpoint:
    """moto's server. It ends when its standard input closes, so it cannot outlive this process."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self.url = ""

    async def start(self) -> None:
        """Start the server and wait until it listens. Raises TimeoutError after 30 s."""
        environ = {**os.environ, "MOTO_ACCOUNT_ID": ACCOUNT}
        self._child = await spawn(
            *(sys.executable, "-m", "local.cloud.moto_server"),
            cwd=Path(__file__).parents[2],
            env=environ,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if self._child.stdout is None:
            raise AwsError("moto has no output")
        async with asyncio.timeout(START_SECONDS):
            self.url = (await self._child.stdout.readline()).decode().strip()
        if not self.url:
            raise AwsError(f"moto ended at once, exit status {await self._child.wait()}")

    async def close(self) -> None:
        """End the server."""
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()


class AwsApi:
    """The few calls of the local cloud itself, in AWS's JSON protocol over HTTP."""

    # Service, and the JSON protocol's version and target prefix of it (botocore's service models).
    PROTOCOLS: ClassVar[Mapping[str, tuple[str, str]]] = {
        "sqs": ("1.0", "AmazonSQS"),
        "secretsmanager": ("1.1", "secretsmanager"),
        "kms": ("1.1", "TrentService"),
    }

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx2.AsyncClient(base_url=url, timeout=30.0, trust_env=False)

    async def close(self) -> None:
        await self._client.aclose()

    async def call(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """One API call. Raises AwsError with the service's own words."""
        version, prefix = self.PROTOCOLS[service]
        headers = _signature(service) | {
            "Content-Type": f"application/x-amz-json-{version}",
            "X-Amz-Target": f"{prefix}.{operation}",
        }
        response = await self._client.post("/", headers=headers, content=json.dumps(parameters))
        if response.is_error:
            raise AwsError(f"{service} {operation}: {response.status_code} {response.text}")
        return dict(response.json()) if response.content else {}

    async def create_bucket(self, name: str) -> None:
        """Create an S3 bucket."""
        body = (
            f"<CreateBucketConfiguration><LocationConstraint>{REGION}</LocationConstraint></CreateBucketConfiguration>"
        )
        response = await self._client.put(f"/{name}", headers=_signature("s3"), content=body)
        if response.is_error:
            raise AwsError(f"s3 CreateBucket: {response.status_code} {response.text}")

    async def create_secret(self, name: str, value: str) -> str:
        """Store a secret; answers its ARN."""
        answer = await self.call("secretsmanager", "CreateSecret", Name=name, SecretString=value)
        return str(answer["ARN"])

    def queue_url(self, queue_arn: str) -> str:
        """The URL of a queue by its ARN."""
        return f"{self.url}/{ACCOUNT}/{queue_arn.rpartition(':')[2]}"

    async def send_message(self, queue_arn: str, body: str, attributes: Mapping[str, str] | None = None) -> None:
        """Put one message with string attributes on a queue."""
        encoded = {
            name: {"DataType": "String", "StringValue": value} for name, value in (attributes or {}).items() if value
        }
        await self.call(
            "sqs", "SendMessage", QueueUrl=self.queue_url(queue_arn), MessageBody=body, MessageAttributes=encoded
        )

    async def receive_messages(self, queue_arn: str, limit: int = 10) -> list[dict[str, Any]]:
        """What is on a queue now, each message invisible to others for the queue's visibility timeout."""
        answer = await self.call(
            "sqs",
            "ReceiveMessage",
            QueueUrl=self.queue_url(queue_arn),
            MaxNumberOfMessages=limit,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))


def _signature(service: str) -> dict[str, str]:
    # moto routes by the credential scope and does not verify the signature.
    scope = f"local/20260101/{REGION}/{service}/aws4_request"
    return {"Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"}
