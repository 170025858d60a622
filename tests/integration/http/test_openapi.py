"""The OpenAPI document, and what the API makes of requests that schemathesis derives from it.

SCHEMATHESIS_EXAMPLES is the number of requests in all; with more than the default they are drawn anew in every run.
"""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import boto3
import psycopg
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from functions.rationale.app import build_explain
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.http.app import create_app
from oria_runtime.http.sse import Pace
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import REGISTRY, RecordingBus, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import pause
from tests.support.database import DatabaseUrls
from tests.support.trainings import add_training

DEFAULT_EXAMPLES = 500
TENANT = UUID("7b1d2b1e-8f57-4f0e-9d6e-0c9f5a3f4f10")
# A stream that somebody really follows ends soon.
SHORT = Pace(fast=0.02, slow=0.02, heartbeat=0.05, cut=0.1)
QUIET = settings(
    deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), print_blob=False
)


def read_document() -> dict[str, Any]:
    environ = {"DATABASE_URL": "postgresql://nowhere", "PUBLIC_BASE_URL": "https://api.example.test/prod"}
    return create_app(Sandbox(environ, registry=REGISTRY)).openapi()


# A schema cannot say which assistants are registered; unknown query parameters are ignored, as everywhere.
EXCLUDED = [schemathesis.checks.positive_data_acceptance, schemathesis.checks.negative_data_rejection]

OPERATIONS = {
    "readHealth", "listAssistants", "createConversation", "listConversations", "readConversation",
    "deleteConversation", "listMessages", "createTurn", "chat", "readTurn", "cancelTurn", "streamTurnEvents",
    "respondToInteraction", "readPreferences", "writePreferences", "deletePreferences",
    "listDocuments", "writeDocument", "readDocument", "deleteDocument", "createUpload", "writeFeedback",
    "deleteFeedback", "explainTraining", "createSource", "listSources", "readSource", "changeSource", "deleteSource",
    "refreshSource", "listRefreshes", "listSourceDocuments", "listFiles", "writeFile", "deleteFile", "createFileUpload",
    "readKnowledgeMetrics",
}  # fmt: skip


def test_document_describes_every_operation_whole() -> None:
    document = read_document()
    operations = {op["operationId"]: op for path in document["paths"].values() for op in path.values()}
    assert operations.keys() == OPERATIONS
    for name, operation in operations.items():
        assert operation["summary"], name
        assert operation["description"], name
        if name == "readHealth":
            continue
        assert operation["security"] == [{"HTTPBearer": []}], name
        for status in ("401", "500", "503"):
            assert list(operation["responses"][status]["content"]) == ["application/problem+json"], name
        if "requestBody" in operation:
            assert operation["responses"].keys() >= {"400", "413", "415", "422"}, name
    assert document["servers"] == [{"url": "https://api.example.test/prod"}]
    assert document["components"]["schemas"].keys() >= {"Problem", "ProblemError", "TurnView", "OutcomeView"}


@contextmanager
def run_server(environ: dict[str, str]) -> Iterator[tuple[str, Sandbox]]:
    """The API in a thread with a loop of its own: schemathesis blocks."""
    started, stopped = threading.Event(), asyncio.Event()
    found: list[tuple[str, Sandbox]] = []
    loop = asyncio.new_event_loop()

    async def run() -> None:
        sandbox = Sandbox(environ, registry=REGISTRY, publisher=RecordingBus(), data_connections=8)
        async with serve(join_apps(sandbox, SHORT, explain=build_explain(sandbox))) as address:
            found.append((address, sandbox))
            started.set()
            await stopped.wait()
        await sandbox.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    started.wait(10)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()


def prepare_ids(environ: dict[str, str], address: str, headers: dict[str, str]) -> dict[str, str]:
    """Things that exist, so that not every generated call ends at a 404."""
    turn = requests.post(f"{address}/v1/chat", json={"message": "Hello"}, headers=headers, timeout=10).json()
    conversation = f"{address}/v1/conversations/{turn['conversation_id']}"
    requests.put(f"{conversation}/documents/notes.txt", data=b"Hello", headers=headers, timeout=10)
    messages = requests.get(f"{conversation}/messages", headers=headers, timeout=10).json()

    new = {"name": "Files", "kind": "upload"}
    source = requests.post(f"{address}/v1/knowledge/sources", json=new, headers=headers, timeout=10).json()

    async def ask() -> str:
        sandbox = Sandbox(environ, registry=REGISTRY)
        database = TenantDatabase(sandbox.pool, TENANT)
        await add_training(database, "t1", title="Welding")
        interaction = await pause(database, turn["id"])
        await sandbox.close()
        return interaction

    return {
        "turn_id": turn["id"],
        "conversation_id": turn["conversation_id"],
        "interaction_id": asyncio.run(ask()),
        "training_id": "t1",
        "name": "notes.txt",
        "message_id": messages["items"][0]["id"],
        "source_id": source["id"],
    }


def test_no_request_of_the_document_makes_a_fault(
    environ: dict[str, str], issuer: Issuer, database_urls: DatabaseUrls, aws: str
) -> None:
    examples = int(os.environ.get("SCHEMATHESIS_EXAMPLES", DEFAULT_EXAMPLES))
    with psycopg.connect(database_urls.owner, autocommit=True) as connection:
        connection.execute("insert into oria.tenants (id, slug, name) values (%s, 'acme', 'Acme')", (TENANT,))
    headers = {"Authorization": f"Bearer {issuer.token(TENANT, scope='admin')}"}
    boto3.client("s3").create_bucket(Bucket="knowledge", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    environ["REFRESH_QUEUE_URL"] = boto3.client("sqs").create_queue(QueueName="refresh")["QueueUrl"]
    statuses: Counter[int] = Counter()
    with run_server(environ) as (address, _):
        ids = prepare_ids(environ, address, headers)
        schema = schemathesis.openapi.from_url(f"{address}/v1/openapi.json")
        operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
        share = -(-examples // (2 * len(operations)))
        for operation in operations:
            if operation.definition.raw["operationId"] == "readHealth":
                continue
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

                @settings(QUIET, max_examples=share, derandomize=examples <= DEFAULT_EXAMPLES)
                @given(case=operation.as_strategy(generation_mode=mode), real=st.booleans())
                def call(case: schemathesis.Case[Any], real: bool) -> None:
                    if real and case.path_parameters:
                        case.path_parameters.update({name: ids[name] for name in case.path_parameters})
                    response = case.call(base_url=address, headers=headers, timeout=20)
                    statuses[response.status_code] += 1
                    case.validate_response(response, headers=headers, excluded_checks=EXCLUDED)

                call()
    assert sum(statuses.values()) >= examples * 0.8
    assert not [status for status in statuses if status >= 500]
    assert statuses.keys() >= {200, 202, 404, 422}
