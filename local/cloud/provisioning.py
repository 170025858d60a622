"""Creates in moto what the template declares and what its parameters name: queues, keys, buckets, secrets."""

import json
from collections.abc import Mapping
from typing import Any

from local.cloud.aws import AwsApi
from local.cloud.intrinsics import STACK
from local.cloud.resources import ACCOUNT, arn
from local.cloud.template import Template

QUEUE_ATTRIBUTES = (
    *("VisibilityTimeout", "MessageRetentionPeriod", "DelaySeconds", "ReceiveMessageWaitTimeSeconds"),
    *("MaximumMessageSize", "FifoQueue", "ContentBasedDeduplication"),
)


async def create_secrets(aws: AwsApi, secrets: Mapping[str, str]) -> dict[str, str]:
    """Store values under the names of the template's parameters that want ARNs; answers parameter -> ARN."""
    return {name: await aws.create_secret(f"{STACK}/{name}", value) for name, value in secrets.items() if value}


async def create_resources(aws: AwsApi, template: Template) -> dict[str, Any]:
    """Create queues, KMS keys and buckets; answers what Ref and GetAtt say of them."""
    attributes = {**_name_queues(aws, template), **await _create_keys(aws, template)}
    await _create_queues(aws, template, attributes)
    for name, body in template.resources("AWS::S3::Bucket"):
        bucket = str(template.resolve(body.get("BucketName", f"{STACK}-{name.lower()}")))
        await aws.create_bucket(bucket)
        attributes |= {name: bucket, f"{name}.Arn": f"arn:aws:s3:::{bucket}"}
    return attributes


def _name_queues(aws: AwsApi, template: Template) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, body in template.resources("AWS::SQS::Queue"):
        queue = str(template.resolve(body.get("QueueName", f"{STACK}-{name}")))
        attributes |= {
            name: f"{aws.url}/{ACCOUNT}/{queue}",
            f"{name}.Arn": arn("sqs", queue),
            f"{name}.QueueName": queue,
            f"{name}.QueueUrl": f"{aws.url}/{ACCOUNT}/{queue}",
        }
    return attributes


async def _create_keys(aws: AwsApi, template: Template) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, _ in template.resources("AWS::KMS::Key"):
        created = (await aws.call("kms", "CreateKey", Description=name))["KeyMetadata"]
        attributes |= {name: created["KeyId"], f"{name}.KeyId": created["KeyId"], f"{name}.Arn": created["Arn"]}
    return attributes


async def _create_queues(aws: AwsApi, template: Template, attributes: Mapping[str, Any]) -> None:
    queues = [
        (attributes[name], attributes[f"{name}.QueueName"], template.resolve_with(body, attributes))
        for name, body in template.resources("AWS::SQS::Queue")
    ]
    for _, name, body in queues:
        wanted = {key: str(body[key]) for key in QUEUE_ATTRIBUTES if key in body}
        await aws.call("sqs", "CreateQueue", QueueName=name, Attributes=wanted)
    # Afterwards: a redrive policy needs its dead-letter queue to exist.
    for url, _, body in queues:
        if "RedrivePolicy" in body:
            policy = {"RedrivePolicy": json.dumps(body["RedrivePolicy"])}
            await aws.call("sqs", "SetQueueAttributes", QueueUrl=url, Attributes=policy)
