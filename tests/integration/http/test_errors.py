"""Whatever is wrong, the answer is a problem document (RFC 9457) that says what and where."""

import asyncio
import json
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest

from oria_runtime.http import limits
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import connect, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.support.database import DatabaseUrls, execute

JSON = {"Content-Type": "application/json"}
MEMBERS = {"type", "title", "status", "detail", "errors", "request_id"}


def read_problem(answer: httpx2.Response) -> dict[str, object]:
    """The problem of an answer, checked against its headers."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, object] = answer.json()
    assert problem.keys() >= MEMBERS
    assert problem["status"] == answer.status_code
    assert problem["request_id"] == answer.headers["x-request-id"]
    return problem


BODIES: dict[str, tuple[bytes, dict[str, str], int]] = {
    "no JSON": (b"{", JSON, 400),
    "half a number": (b'{"message": 1e}', JSON, 400),
    "NaN": (b'{"message": NaN}', JSON, 400),
    "an endless number": (b'{"message": ' + b"9" * 5000 + b"}", JSON, 400),
    "broken UTF-8": (b'{"message": "\xff\xfe"}', JSON, 400),
    "a byte order mark": (b"\xef\xbb\xbf{}", JSON, 400),
    "deep JSON": (b'{"message": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, 400),
    "deeper than allowed": (b'{"message": ' + b"[" * 40 + b"]" * 40 + b"}", JSON, 422),
    "a list": (b"[]", JSON, 422),
    "a string": (b'"message"', JSON, 422),
    "null": (b"null", JSON, 422),
    "nothing": (b"", JSON, 422),
    "a lone surrogate": (b'{"message": "\\ud800"}', JSON, 422),
    "a lone surrogate as a name": (b'{"message": "a", "\\udfff": 1}', JSON, 422),
    "a NUL": (b'{"message": "a\\u0000"}', JSON, 422),
    "an endless name": (b'{"message": "a", "' + b"x" * 100_000 + b'": 1}', JSON, 422),
    "a form": (b"message=a", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "text": (b'{"message": "a"}', {"Content-Type": "text/plain"}, 415),
    "no type": (b'{"message": "a"}', {}, 415),
    "a broken type": (b'{"message": "a"}', {"Content-Type": ";;;"}, 415),
    "a packed body": (b'{"message": "a"}', JSON | {"Content-Encoding": "gzip"}, 415),
    "too much": (b'{"message": "' + b"a" * limits.BODY_BYTES + b'"}', JSON, 413),
}


async def test_bodies_nobody_can_read_are_refused(ada: httpx2.AsyncClient) -> None:
    found = {}
    for name, (body, headers, _) in BODIES.items():
        answer = await ada.post("/chat", content=body, headers=headers)
        read_problem(answer)
        found[name] = answer.status_code
    assert found == {name: status for name, (_, _, status) in BODIES.items()}


async def test_body_without_a_length_is_bounded_too(ada: httpx2.AsyncClient) -> None:
    async def send() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b"a" * 100_000

    answer = await ada.post("/chat", content=send(), headers=JSON)
    assert read_problem(answer)["status"] == 413


async def test_json_types_of_other_vendors_are_json(ada: httpx2.AsyncClient) -> None:
    content = json.dumps({"message": "Hé"}, ensure_ascii=False).encode()
    for kind in ("application/json; charset=utf-8", "application/vnd.api+json", "APPLICATION/JSON"):
        assert (await ada.post("/chat", content=content, headers={"Content-Type": kind})).status_code == 202


async def test_routes_and_methods_that_do_not_exist_are_problems(ada: httpx2.AsyncClient) -> None:
    calls = [
        ("GET", "/nothing"),
        ("GET", "/chat"),
        ("PATCH", "/preferences"),
        ("GET", "/conversations/"),
        ("TRACE", "/chat"),
    ]
    answers = [await ada.request(method, path) for method, path in calls]
    assert [read_problem(answer)["status"] for answer in answers] == [404, 405, 405, 404, 405]
    assert answers[1].headers["allow"] == "POST"


IDS = [str(uuid4()), "1", "nonsense", "%00", "..%2f", "é", "0" * 300, "123e4567-e89b-12d3-a456-42661417400g"]


async def test_ids_that_name_nothing_look_the_same(ada: httpx2.AsyncClient) -> None:
    answers = []
    for name in IDS:
        answers += [
            await ada.get(f"/turns/{name}"),
            await ada.get(f"/turns/{name}/events"),
            await ada.post(f"/turns/{name}/cancel"),
            await ada.get(f"/conversations/{name}"),
            await ada.get(f"/conversations/{name}/messages"),
            await ada.delete(f"/conversations/{name}"),
            await ada.post(f"/conversations/{name}/turns", json={"message": "a"}),
            await ada.post(f"/interactions/{name}/response", json={"cancel": True}),
        ]
    assert {read_problem(answer)["status"] for answer in answers} == {404}
    assert [answer.json()["errors"] for answer in answers] == [[]] * len(answers)


async def test_parameters_are_validated_with_their_place(ada: httpx2.AsyncClient) -> None:
    queries = {f"limit={value}": "/query/limit" for value in ("0", "1000", "x", "")}
    queries |= {f"before={value}": "/query/before" for value in ("x", "A" * 600, "%00", "W10=", "bnVsbA==")}
    found = {query: read_problem(await ada.get(f"/conversations?{query}"))["errors"] for query in queries}
    assert {query: errors[0]["pointer"] for query, errors in found.items()} == queries  # type: ignore[index]


@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic YTpi", "Bearer a.b.c", "Bearer é"])
async def test_without_a_good_token_nothing_is_read(address: str, header: str | None) -> None:
    headers = [(b"Authorization", header.encode())] if header is not None else []
    async with connect(address, None) as client:
        # Not even the syntax of the body.
        answer = await client.post("/chat", content=b"{", headers=headers)
    assert read_problem(answer)["status"] == 401
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_token_of_a_tenant_that_is_not_here_is_forbidden(address: str, issuer: Issuer) -> None:
    async with connect(address, issuer.token(uuid4())) as client:
        answers = [
            await client.get("/assistants"),
            await client.post("/conversations", json={"assistant": "oria"}),
            await client.post("/chat", json={"message": "a"}),
            await client.put("/preferences", json={"items": []}),
            await client.delete("/preferences"),
        ]
    assert [read_problem(answer)["status"] for answer in answers] == [403] * 5


async def test_issuer_that_is_down_gives_503(
    sandbox: Sandbox, environ: dict[str, str], issuer: Issuer, tenant: UUID
) -> None:
    environ["JWT_JWKS_URL"] = "http://127.0.0.1:9/jwks"
    async with serve(join_apps(sandbox)) as address, connect(address, issuer.token(tenant)) as client:
        answer = await client.get("/preferences")
    assert read_problem(answer)["status"] == 503
    assert int(answer.headers["retry-after"]) > 0


async def test_database_that_is_down_gives_503_and_comes_back(
    sandbox: Sandbox, issuer: Issuer, tenant: UUID, database_urls: DatabaseUrls
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database_urls.owner)["dbname"]
    elsewhere = psycopg.conninfo.make_conninfo(database_urls.owner, dbname="postgres")
    app = join_apps(sandbox, request_seconds=1.0)
    async with serve(app) as address, connect(address, issuer.token(tenant)) as client:
        assert (await client.get("/preferences")).status_code == 200
        execute(elsewhere, f"alter database {name} allow_connections false")
        execute(elsewhere, f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        answer = await client.get("/preferences")
        execute(elsewhere, f"alter database {name} allow_connections true")
        assert read_problem(answer)["status"] == 503
        assert "retry-after" in answer.headers
        async with asyncio.timeout(10):
            while (await client.get("/preferences")).status_code != 200:
                await asyncio.sleep(0.1)


async def test_unexpected_exception_is_a_bare_500_and_is_logged_without_texts(
    ada: httpx2.AsyncClient, database_urls: DatabaseUrls, caplog: pytest.LogCaptureFixture
) -> None:
    execute(database_urls.owner, "alter table oria.preference_versions rename to gone")
    answer = await ada.put("/preferences", json={"items": ["a secret wish"]})
    problem = read_problem(answer)
    assert (problem["status"], problem["errors"]) == (500, [])
    assert "preference_versions" not in answer.text
    logged = next(vars(record) for record in caplog.records if record.getMessage() == "request failed")
    assert (logged["request_id"], logged["sqlstate"]) == (problem["request_id"], "42P01")
    assert logged["error"] == ["UndefinedTable"]
    assert "secret" not in str(logged)


async def test_deployment_that_lacks_a_setting_is_a_500_that_names_it_to_nobody(
    sandbox: Sandbox, environ: dict[str, str], issuer: Issuer, tenant: UUID, caplog: pytest.LogCaptureFixture
) -> None:
    del environ["JWT_AUDIENCE"]
    async with serve(join_apps(sandbox)) as address, connect(address, issuer.token(tenant)) as client:
        answer = await client.get("/preferences")
    assert read_problem(answer)["status"] == 500
    assert "JWT" not in answer.text
    assert [vars(record)["error"] for record in caplog.records if record.getMessage() == "request failed"] == [
        ["ConfigurationError"]
    ]


async def test_every_answer_has_a_request_id_and_is_never_cached(ada: httpx2.AsyncClient) -> None:
    for path in ("/preferences", "/nothing", "/health"):
        answer = await ada.get(path, headers={"X-Request-Id": "mine"})
        assert UUID(answer.headers["x-request-id"])
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_links_never_come_from_the_host_header(ada: httpx2.AsyncClient) -> None:
    answer = await ada.post(
        "/chat", json={"message": "a"}, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    )
    assert "evil" not in str(answer.headers) + answer.text
