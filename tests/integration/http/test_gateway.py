"""The API behind API Gateway's proxy events (CASES 41, 42, 44)."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from functions.rationale.app import build_explain
from oria_runtime.http.gateway import create_adapter
from oria_runtime.http.routes.rationale import create_router
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import BASE_URL, REGISTRY, RecordingBus
from tests.integration.http.issuer import Issuer
from tests.support.database import DatabaseUrls
from tests.support.documents import SCAN, make_pdf
from tests.support.events import load_event

TENANT = UUID("7b1d2b1e-8f57-4f0e-9d6e-0c9f5a3f4f10")


@pytest.fixture
def sandbox_of_lambda(environ: dict[str, str], bus: RecordingBus, database_urls: DatabaseUrls) -> Iterator[Sandbox]:
    """A sandbox that owns its loop, as on Lambda: these tests are not coroutines."""
    with psycopg.connect(database_urls.owner, autocommit=True) as connection:
        connection.execute("insert into oria.tenants (id, slug, name) values (%s, 'acme', 'Acme')", (TENANT,))
    sandbox = Sandbox(environ, registry=REGISTRY, publisher=bus)
    yield sandbox
    sandbox.run(sandbox.close())
    sandbox.loop.close()


def proxy_event(
    method: str, path: str, token: str | None = None, body: bytes | None = None, *, encoded: bool = False
) -> dict[str, Any]:
    """What API Gateway sends for a request to the stage `prod`; `encoded` as for a binary media type."""
    headers = {"Host": "abc.execute-api.eu-west-1.amazonaws.com", "Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": path.strip("/")},
        "stageVariables": None,
        "requestContext": {
            "requestId": "gateway-request-1",
            "stage": "prod",
            "path": f"/prod{path}",
            "identity": {"sourceIp": "192.0.2.1"},
        },
        "body": (base64.b64encode(body) if encoded else body).decode() if body is not None else None,
        "isBase64Encoded": encoded,
    }


def test_five_invocations_use_one_connection(
    sandbox_of_lambda: Sandbox, issuer: Issuer, database_urls: DatabaseUrls
) -> None:
    handler = create_adapter(sandbox_of_lambda)
    token = issuer.token(TENANT)
    backends = set()
    for _ in range(5):
        answer = handler(proxy_event("GET", "/v1/preferences", token), None)  # type: ignore[arg-type]
        assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
        with psycopg.connect(database_urls.owner) as connection:
            query = "select pid from pg_stat_activity where application_name = 'oria'"
            backends |= {row[0] for row in connection.execute(query).fetchall()}
    assert len(backends) == 1
    assert sandbox_of_lambda.pool.get_stats()["connections_num"] == 1


def test_message_is_accepted_under_the_stage(sandbox_of_lambda: Sandbox, issuer: Issuer) -> None:
    body = json.dumps({"message": "Où suis-je ?"}, ensure_ascii=False).encode()
    handler = create_adapter(sandbox_of_lambda)
    for event in (
        proxy_event("POST", "/v1/chat", issuer.token(TENANT), body),
        proxy_event("POST", "/v1/chat", issuer.token(TENANT), body, encoded=True),
        # A custom domain's base path is part of the event's path.
        proxy_event("POST", "/prod/v1/chat", issuer.token(TENANT), body),
    ):
        answer = handler(event, None)  # type: ignore[arg-type]
        turn = json.loads(answer["body"])
        assert (answer["statusCode"], turn["locale"]) == (202, "fr")
        assert answer["headers"]["location"] == f"{BASE_URL}/v1/turns/{turn['id']}"


def test_a_file_and_its_name_arrive_whole(sandbox_of_lambda: Sandbox, issuer: Issuer) -> None:
    handler, token = create_adapter(sandbox_of_lambda), issuer.token(TENANT)
    created = handler(proxy_event("POST", "/v1/conversations", token, b'{"assistant": "oria"}'), None)  # type: ignore[arg-type]
    conversation = json.loads(created["body"])["id"]
    event = load_event("api/put_document", token=token)
    event["path"] = event["path"].replace("2f0b9c1e-6a57-4b0f-9a63-5f1f0f2f7c11", conversation)
    answer = handler(event, None)  # type: ignore[arg-type]
    document = json.loads(answer["body"])
    assert (answer["statusCode"], document["name"], document["pages"]) == (201, "Lebenslauf – Amira.pdf", 1)
    assert document["bytes"] == len(base64.b64decode(event["body"]))


def test_a_file_that_the_gateway_took_for_text_is_refused(sandbox_of_lambda: Sandbox, issuer: Issuer) -> None:
    handler, token = create_adapter(sandbox_of_lambda), issuer.token(TENANT)
    created = handler(proxy_event("POST", "/v1/conversations", token, b'{"assistant": "oria"}'), None)  # type: ignore[arg-type]
    path = f"/v1/conversations/{json.loads(created['body'])['id']}/documents"
    latin = "Compétences".encode("latin-1")
    for name, body, status in (("cv.txt", latin, 415), ("cv.pdf", make_pdf([SCAN]), 415), ("a.txt", b"Hello", 201)):
        event = proxy_event("PUT", f"{path}/{name}", token, body.decode("utf-8", "replace").encode())
        del event["headers"]["Content-Type"], event["multiValueHeaders"]["Content-Type"]
        answer = handler(event, None)  # type: ignore[arg-type]
        assert answer["statusCode"] == status, name
        assert ("content type" in answer["body"]) == (status == 415)


def test_the_function_that_explains_trainings_answers_proxy_events(sandbox_of_lambda: Sandbox, issuer: Issuer) -> None:
    handler = create_adapter(sandbox_of_lambda, routers=[create_router(build_explain(sandbox_of_lambda))])
    event = load_event("rationale/explain_training", token=issuer.token(TENANT))
    answer = handler(event, None)  # type: ignore[arg-type]
    assert (answer["statusCode"], json.loads(answer["body"])["detail"]) == (404, "There is no such training.")
    event = proxy_event("GET", "/v1/conversations", issuer.token(TENANT))
    assert handler(event, None)["statusCode"] == 404, "that is the api's"  # type: ignore[arg-type]


def test_problems_are_text_and_carry_the_gateways_request_id(sandbox_of_lambda: Sandbox) -> None:
    answer = create_adapter(sandbox_of_lambda)(proxy_event("GET", "/v1/preferences"), None)  # type: ignore[arg-type]
    problem = json.loads(answer["body"])
    assert (answer["statusCode"], answer["isBase64Encoded"], problem["status"]) == (401, False, 401)
    assert problem["request_id"] == answer["headers"]["x-request-id"] == "gateway-request-1"


def test_multi_value_headers_and_queries_are_understood(sandbox_of_lambda: Sandbox, issuer: Issuer) -> None:
    handler = create_adapter(sandbox_of_lambda)
    event = proxy_event("POST", "/v1/chat", issuer.token(TENANT), b'{"message": "Hi"}')
    event["multiValueHeaders"]["Prefer"] = ["respond-async", "wait=1"]
    answer = handler(event, None)  # type: ignore[arg-type]
    assert (answer["statusCode"], answer["headers"]["preference-applied"]) == (202, "wait=1")
    event = proxy_event("GET", "/v1/conversations", issuer.token(TENANT))
    event["multiValueQueryStringParameters"] = {"limit": ["0"]}
    assert handler(event, None)["statusCode"] == 422  # type: ignore[arg-type]


def test_unexpected_exception_is_answered_and_the_sandbox_lives_on(
    sandbox_of_lambda: Sandbox, issuer: Issuer, database_urls: DatabaseUrls
) -> None:
    handler = create_adapter(sandbox_of_lambda)
    event = proxy_event("GET", "/v1/preferences", issuer.token(TENANT))
    with psycopg.connect(database_urls.owner, autocommit=True) as connection:
        connection.execute("alter table oria.preference_versions rename to gone")
        assert json.loads(handler(event, None)["body"])["status"] == 500  # type: ignore[arg-type]
        connection.execute("alter table oria.gone rename to preference_versions")
    assert handler(event, None)["statusCode"] == 200  # type: ignore[arg-type]
