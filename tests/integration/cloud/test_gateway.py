"""API Gateway: routes, proxy events, its own answers, streaming."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from local.cloud.cloud import LocalCloud
from local.cloud.issuer import ISSUER
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.notes import wait_for

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cloud(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalCloud]:
    """A cloud whose API stands under a base path."""
    async with LocalCloud(build_options(tmp_path_factory.mktemp("cloud"), base_path="/stage")) as cloud:
        yield cloud


@pytest_asyncio.fixture(loop_scope="module")
async def client(cloud: LocalCloud) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=cloud.url, timeout=10.0) as client:
        yield client


async def test_a_request_becomes_a_proxy_event(client: httpx2.AsyncClient) -> None:
    headers = [("X-Twice", "1"), ("X-Twice", "2"), ("Content-Type", "application/json")]
    response = await client.post("/v1/things/a%20b?q=1&q=2&empty=", headers=headers, content=b'{"text": "\xc3\xa9"}')

    event = response.json()
    assert response.status_code == 201
    assert response.headers["x-kept"] == "yes"
    assert event["resource"] == "/v1/{proxy+}"
    assert event["path"] == "/v1/things/a b"
    assert event["httpMethod"] == "POST"
    assert event["pathParameters"] == {"proxy": "things/a b"}
    assert event["headers"]["x-twice"] == "2"
    assert event["multiValueHeaders"]["x-twice"] == ["1", "2"]
    assert event["queryStringParameters"] == {"q": "2", "empty": ""}
    assert event["multiValueQueryStringParameters"]["q"] == ["1", "2"]
    assert event["body"] == '{"text": "é"}'
    assert event["isBase64Encoded"] is False
    assert event["requestContext"]["stage"] == "live"
    assert event["requestContext"]["path"] == "/stage/v1/things/a b"
    assert event["requestContext"]["identity"]["sourceIp"] == "127.0.0.1"


async def test_unknown_routes_are_answered_by_the_gateway(client: httpx2.AsyncClient, cloud: LocalCloud) -> None:
    responses = [await client.get("/v2/things"), await client.post("/v1/slow"), await client.post("/v1/stream/x")]
    responses.append(await client.get(cloud.url.removesuffix("/stage") + "/v1/things"))

    assert [response.status_code for response in responses] == [403, 403, 403, 403]
    assert responses[0].json() == {"message": "Missing Authentication Token"}


async def test_a_slow_integration_is_a_gateway_timeout(client: httpx2.AsyncClient) -> None:
    await client.get("/v1/warm")
    started = time.perf_counter()
    response = await client.get("/v1/slow?seconds=2")

    assert response.status_code == 504
    assert response.json() == {"message": "Endpoint request timed out"}
    assert time.perf_counter() - started < 1.0


async def test_a_malformed_answer_is_a_bad_gateway(client: httpx2.AsyncClient) -> None:
    response = await client.get("/v1/broken")

    assert response.status_code == 502
    assert response.json() == {"message": "Internal server error"}


async def test_an_answer_without_content_has_no_length(client: httpx2.AsyncClient) -> None:
    response = await client.get("/v1/nothing")

    assert response.status_code == 204
    assert "content-length" not in response.headers


async def test_a_body_over_ten_megabytes_is_refused_in_the_words_of_the_template(client: httpx2.AsyncClient) -> None:
    response = await client.post("/v1/things", content=b"x" * (10 * 1024 * 1024 + 1))

    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["x-amzn-requestid"]


async def test_a_stream_passes_through_as_it_is_made(client: httpx2.AsyncClient) -> None:
    await client.get("/v1/stream/warm?lines=1")
    arrivals: list[float] = []
    lines: list[str] = []
    async with client.stream("GET", "/v1/stream/one") as response:
        async for line in response.aiter_lines():
            arrivals.append(time.perf_counter())
            lines.append(line)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert lines == [f"line {number} /v1/stream/one True" for number in range(4)]
    assert arrivals[-1] - arrivals[0] > 0.2


async def test_streams_above_the_reserved_concurrency_are_throttled(
    client: httpx2.AsyncClient, cloud: LocalCloud
) -> None:
    async with client.stream("GET", "/v1/stream/a?lines=50"), client.stream("GET", "/v1/stream/b?lines=50"):
        refused = await client.get("/v1/stream/c")
    assert refused.status_code == 429
    # Both clients have left, so their streams are over.
    await asyncio.sleep(0.3)
    assert (await client.get("/v1/stream/d?lines=1")).status_code == 200


async def test_a_dead_web_server_is_started_again(client: httpx2.AsyncClient, cloud: LocalCloud) -> None:
    await client.get("/v1/stream/x?lines=1")
    process = cloud.adapters["Web"].process
    assert process is not None
    await process.kill()
    await wait_for(lambda: not process.alive)

    assert (await client.get("/v1/stream/x?lines=1")).status_code == 200


async def test_the_issuer_publishes_the_key_of_its_tokens(client: httpx2.AsyncClient, cloud: LocalCloud) -> None:
    import jwt

    origin = cloud.url.removesuffix("/stage")
    discovery: dict[str, Any] = (await client.get(f"{origin}/.local/issuer/.well-known/openid-configuration")).json()
    [key] = (await client.get(discovery["jwks_uri"])).json()["keys"]
    token = cloud.token("ana", "6b2f5fd5-3a5b-4c9e-9d6f-0d3f1c1f4e11")

    claims = jwt.decode(token, jwt.PyJWK(key), algorithms=["RS256"], audience="oria", issuer=ISSUER)
    assert claims["sub"] == "ana"
    assert claims["tenant"] == "6b2f5fd5-3a5b-4c9e-9d6f-0d3f1c1f4e11"
    assert json.loads(json.dumps(key))["kid"] == jwt.get_unverified_header(token)["kid"]
