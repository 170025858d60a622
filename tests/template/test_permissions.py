"""What each function may do: this table, and nothing on everything."""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.template import Stack, as_list

DATABASE = ("secretsmanager:GetSecretValue", "DatabaseSecretArn")
OWNER = ("secretsmanager:GetSecretValue", "MigrationDatabaseSecretArn")
TRACING = {
    ("secretsmanager:GetSecretValue", "LangSmithSecretArn"),
    ("secretsmanager:GetSecretValue", "LangfuseSecretArn"),
}
PROVIDERS = ("OpenAiSecretArn", "AzureOpenAiSecretArn", "OvhSecretArn", "CompatibleSecretArn", "AnthropicSecretArn")
MODEL = {("secretsmanager:GetSecretValue", name) for name in PROVIDERS} | TRACING
PUBLISH = ("events:PutEvents", "Bus")
SEAL, UNSEAL = ("kms:GenerateDataKey", "ContextKey"), ("kms:Decrypt", "ContextKey")
ENQUEUE = ("sqs:SendMessage", "RefreshQueue")
# Anthropic has no embeddings, and a refresh asks for nothing else.
EMBEDDINGS = {("secretsmanager:GetSecretValue", name) for name in PROVIDERS if name != "AnthropicSecretArn"}
UPLOADS = {(f"s3:{action}", "UploadsBucket") for action in ("GetObject", "PutObject", "DeleteObject", "ListBucket")}
FILES = {(f"s3:{action}", "KnowledgeBucket") for action in ("GetObject", "PutObject", "DeleteObject", "ListBucket")}
READ_FILES = {
    (f"s3:{action}", bucket)
    for action in ("GetObject", "ListBucket")
    for bucket in ("KnowledgeBucket", "KnowledgeSourceBucketArn")
}
# A function takes five layers, and this one has two edges: HTTP and models.
WITHOUT_LAYER = {("secretsmanager:GetSecretValue", name) for name in ("AnthropicSecretArn", "LangfuseSecretArn")}
REPORT = ("lambda:InvokeFunction", "TurnFailedFunction")

ALLOWED = {
    "ApiFunction": {DATABASE, PUBLISH, ("events:DescribeEventBus", "Bus"), SEAL, ENQUEUE} | UPLOADS | FILES,
    "RationaleFunction": {DATABASE} | MODEL - WITHOUT_LAYER,
    "StreamFunction": {DATABASE, PUBLISH, SEAL},
    "GateFunction": {DATABASE, PUBLISH, REPORT} | MODEL,
    "SupervisorFunction": {DATABASE, PUBLISH, REPORT} | MODEL,
    "SpecialistFunction": {DATABASE, PUBLISH, REPORT, UNSEAL} | MODEL,
    "KnowledgeFunction": {DATABASE, PUBLISH, REPORT, UNSEAL} | MODEL,
    "MemoryFunction": {DATABASE, REPORT} | MODEL,
    "TurnFailedFunction": {DATABASE, PUBLISH, ("sqs:SendMessage", "TurnFailedDeadLetterQueue")},
    "SweepFunction": {DATABASE, PUBLISH},
    "RefreshDueFunction": {DATABASE, ENQUEUE},
    "RefreshSourceFunction": {DATABASE, ENQUEUE} | EMBEDDINGS | READ_FILES,
    "MigrateFunction": {OWNER, DATABASE},
}
# AWS grants these actions on "*" only, or a service's own log and trace actions by a managed policy.
MANAGED = {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess", "AWSLambdaVPCAccessExecutionRole"}
# SAM adds it for an event source: receiving from a queue and deleting there.
CONSUMER = {"RefreshSourceFunctionRole": {"AWSLambdaSQSQueueExecutionRole"}}


def test_functions_may_do_what_the_table_says(stack: Stack) -> None:
    granted = {name: set(read_grants(stack, name)) for name in stack.functions}
    assert granted == ALLOWED


def test_no_statement_is_about_everything(stack: Stack) -> None:
    for name, body in stack.resources.items():
        if body["Type"] == "AWS::KMS::Key":
            continue  # in a key policy "*" is the key itself
        for statement in find_statements(body.get("Properties", {})):
            assert "*" not in as_list(statement.get("Resource", [])), name
            assert not any("*" in action for action in as_list(statement.get("Action", []))), name


def test_managed_policies_are_those_of_the_runtime(stack: Stack) -> None:
    for name, role in stack.of_type("AWS::IAM::Role").items():
        attached = {arn.rpartition("/")[2] for arn in role.get("ManagedPolicyArns", [])}
        assert attached <= MANAGED | CONSUMER.get(name, set()), name


def read_grants(stack: Stack, function: str) -> Iterator[tuple[str, str]]:
    """Action and parameter or resource, of every inline statement of a function's role."""
    for statement in stack.statements(function):
        assert statement["Effect"] == "Allow"
        for action in as_list(statement["Action"]):
            for resource in as_list(statement["Resource"]):
                yield action, name_of(resource)


def name_of(resource: Any) -> str:
    value = resource.get("Fn::If", [None, resource])[1]
    if "Fn::Sub" in value:
        return re.split(r"[.}]", str(value["Fn::Sub"]).removeprefix("${"))[0]
    return str(value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0])


def find_statements(value: Any) -> Iterator[dict[str, Any]]:
    """Every policy statement inside a resource's properties."""
    if isinstance(value, dict):
        if "Effect" in value:
            yield value
        for inner in value.values():
            yield from find_statements(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from find_statements(inner)
