"""Administration of knowledge over HTTP: who may, which rule a location breaks, files, history, deletion."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import boto3
import httpx2
import pytest

from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.knowledge.limits import SOURCES
from tests.integration.http.conftest import BASE_URL, connect
from tests.integration.http.issuer import Issuer
from tests.integration.http.test_errors import read_problem
from tests.support.database import create_tenant
from tests.support.documents import make_pdf

SITE = "https://intranet.example.com"
WEB = {"name": "Intranet", "kind": "web", "location": f"{SITE}/hr/start.html"}
UPLOAD = {"name": "Files", "kind": "upload"}


@pytest.fixture
async def queue(aws: str, environ: dict[str, str]) -> AsyncIterator[Any]:
    """The refresh queue, empty at the start."""
    sqs = boto3.resource("sqs")
    queue = await asyncio.to_thread(lambda: sqs.create_queue(QueueName=f"refresh-{uuid4().hex}"))
    environ["REFRESH_QUEUE_URL"] = queue.url
    yield queue
    await asyncio.to_thread(queue.delete)


@pytest.fixture
async def bucket(aws: str) -> AsyncIterator[Any]:
    """The bucket of upload sources, empty."""
    found = boto3.resource("s3").Bucket("knowledge")
    await asyncio.to_thread(lambda: found.create(CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}))
    yield found
    await asyncio.to_thread(found.objects.delete)
    await asyncio.to_thread(found.delete)


async def receive(queue: Any) -> list[dict[str, str]]:
    """The messages that wait."""
    messages = await asyncio.to_thread(lambda: queue.receive_messages(MaxNumberOfMessages=10))
    return [json.loads(message.body) for message in messages]


async def create(admin: httpx2.AsyncClient, body: dict[str, Any]) -> str:
    answer = await admin.post("/knowledge/sources", json=body)
    assert answer.status_code == 201, answer.text
    return f"/knowledge/sources/{answer.json()['id']}"


async def test_a_source_is_created_due_and_its_refresh_is_sent(
    queue: Any, admin: httpx2.AsyncClient, tenant: UUID
) -> None:
    answer = await admin.post("/knowledge/sources", json=WEB)
    source = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{BASE_URL}/v1/knowledge/sources/{source['id']}"
    assert (source["origins"], source["path_prefixes"]) == ([SITE], ["/hr/"])
    assert (source["documents"], source["last_refresh"], source["status"]) == ({}, None, "active")
    assert await receive(queue) == [{"tenant_id": str(tenant), "source_id": source["id"]}]
    assert (await admin.get(f"/knowledge/sources/{source['id']}")).json() == source
    assert (await admin.get("/knowledge/sources")).json()["items"] == [source]


async def test_a_queue_that_is_away_does_not_keep_a_source_from_being_created(admin: httpx2.AsyncClient) -> None:
    await create(admin, WEB)


async def test_locations_come_in_one_spelling(admin: httpx2.AsyncClient) -> None:
    spelled = WEB | {"location": "HTTPS://Intranet.Example.com:443/hr/./x/../%73tart.html#top"}
    source = (await admin.post("/knowledge/sources", json=spelled)).json()
    assert source["location"] == WEB["location"]


BROKEN: dict[str, tuple[dict[str, Any], str, str]] = {
    "another scheme": ({"location": "ftp://example.com/"}, "/location", "scheme"),
    "a file": ({"location": "file:///etc/passwd"}, "/location", "scheme"),
    "credentials": ({"location": "https://user:secret@example.com/"}, "/location", "credentials"),
    "no location": ({"location": None}, "/location", "URL"),
    "no host": ({"location": "https:///x"}, "/location", "host"),
    "port zero": ({"location": "https://example.com:0/"}, "/location", "port"),
    "a blank": ({"location": "https://example.com/a b"}, "/location", "characters"),
    "loopback": ({"location": "http://127.0.0.1/"}, "/location", "address"),
    "loopback as a number": ({"location": "http://2130706433/"}, "/location", "address"),
    "loopback in octal": ({"location": "http://0177.0.0.1/"}, "/location", "address"),
    "loopback in short": ({"location": "http://127.1/"}, "/location", "address"),
    "loopback by name": ({"location": "http://localhost/"}, "/location", "address"),
    "loopback by a dotted name": ({"location": "http://localhost./"}, "/location", "address"),
    "private": ({"location": "http://10.1.2.3/"}, "/location", "address"),
    "metadata": ({"location": "http://169.254.169.254/latest"}, "/location", "address"),
    "IPv6 loopback": ({"location": "http://[::1]/"}, "/location", "address"),
    "mapped": ({"location": "http://[::ffff:10.0.0.1]/"}, "/location", "address"),
    "outside its own scope": ({"origins": ["https://other.example.com"]}, "/location", "outside"),
    "outside its prefix": ({"path_prefixes": ["/h"]}, "/location", "outside"),
    "an origin with a path": ({"origins": [f"{SITE}/hr"]}, "/origins/0", "scheme, host and port"),
    "a private origin": ({"origins": [SITE, "http://192.168.0.1"]}, "/origins/1", "address"),
    "a prefix that is no path": ({"path_prefixes": ["/hr", "hr"]}, "/path_prefixes/1", "begins with /"),
    "an upload with a location": ({"kind": "upload"}, "/location", "upload"),
    "S3 without permission": ({"kind": "s3", "location": "s3://bucket/hr"}, "/location", "allows"),
    "S3 without a bucket": ({"kind": "s3", "location": "s3:///hr"}, "/location", "s3://"),
    "too deep": ({"max_depth": 6}, "/max_depth", "5"),
    "too often": ({"cadence_seconds": 60}, "/cadence_seconds", "900"),
    "a blank name": ({"name": "  "}, "/name", "blank"),
    "another kind": ({"kind": "ftp"}, "/kind", "web"),
    "an unknown field": ({"depth": 1}, "/depth", ""),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_a_broken_rule_is_named(admin: httpx2.AsyncClient, case: str) -> None:
    change, pointer, said = BROKEN[case]
    answer = await admin.post("/knowledge/sources", json=WEB | change)
    problem: Any = read_problem(answer)
    assert answer.status_code == 422
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert said in problem["errors"][0]["detail"]
    assert (await admin.get("/knowledge/sources")).json()["items"] == []


async def test_every_broken_rule_is_named_at_once(admin: httpx2.AsyncClient) -> None:
    broken = {"location": "http://127.0.0.1/", "origins": ["ftp://x", "http://10.0.0.1"], "path_prefixes": ["x"]}
    problem: Any = read_problem(await admin.post("/knowledge/sources", json=WEB | broken))
    assert [error["pointer"] for error in problem["errors"]] == [
        "/location", "/origins/0", "/origins/1", "/path_prefixes/0"
    ]  # fmt: skip


async def test_a_folder_in_s3_needs_the_tenants_configuration(
    admin: httpx2.AsyncClient, tenant: UUID, pool: Pool
) -> None:
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute("""update tenants set config = '{"knowledge": {"s3_prefixes": ["bucket/hr"]}}'""")
    for location, status in (("s3://bucket/hr", 201), ("s3://bucket/hrx", 422), ("s3://bucket", 422)):
        body = {"name": location, "kind": "s3", "location": location}
        answer = await admin.post("/knowledge/sources", json=body)
        assert answer.status_code == status, answer.text
    assert (await admin.get("/knowledge/sources")).json()["items"][0]["location"] == "s3://bucket/hr/"


async def test_only_administrators_administer(ada: httpx2.AsyncClient, admin: httpx2.AsyncClient) -> None:
    source = await create(admin, UPLOAD)
    calls = [
        ada.get("/knowledge/sources"),
        ada.post("/knowledge/sources", json=WEB),
        ada.get(source),
        ada.patch(source, json={"status": "disabled"}),
        ada.delete(source),
        ada.post(f"{source}/refresh"),
        ada.get(f"{source}/refreshes"),
        ada.get(f"{source}/documents"),
        ada.get(f"{source}/files"),
        ada.put(f"{source}/files/a.txt", content=b"x"),
        ada.delete(f"{source}/files/a.txt"),
        ada.post(f"{source}/files/a.txt/upload"),
        ada.get("/knowledge/metrics"),
    ]
    for call in calls:
        answer = await call
        assert answer.status_code == 403
        assert "admin" in str(read_problem(answer)["detail"])


async def test_unknown_and_foreign_sources_look_the_same(
    admin: httpx2.AsyncClient, address: str, issuer: Issuer, pool: Pool
) -> None:
    foreign = await create(admin, UPLOAD)
    token = issuer.token(await create_tenant(pool, "other"), "grace", scope="admin")
    async with connect(address, token) as other:
        for source in (foreign, f"/knowledge/sources/{uuid4()}", "/knowledge/sources/nonsense"):
            answers = [
                await other.get(source),
                await other.patch(source, json={"name": "Mine"}),
                await other.delete(source),
                await other.post(f"{source}/refresh"),
                await other.get(f"{source}/refreshes"),
                await other.get(f"{source}/documents"),
                await other.get(f"{source}/files"),
                await other.put(f"{source}/files/a.txt", content=b"x", headers={"Content-Type": "text/plain"}),
                await other.delete(f"{source}/files/a.txt"),
                await other.post(f"{source}/files/a.txt/upload"),
            ]
            assert {answer.status_code for answer in answers} == {404}
    assert (await admin.get(foreign)).json()["name"] == "Files"


async def test_blanks_round_a_name_make_no_other_one(admin: httpx2.AsyncClient) -> None:
    source = await create(admin, WEB | {"name": " Intranet "})
    other = await create(admin, UPLOAD)
    assert read_problem(await admin.patch(other, json={"name": "  Intranet "}))["status"] == 409
    assert (await admin.patch(source, json={"name": " Policies "})).json()["name"] == "Policies"


async def test_names_are_unique_and_sources_bounded(admin: httpx2.AsyncClient, tenant: UUID, pool: Pool) -> None:
    source = await create(admin, WEB)
    other = await create(admin, UPLOAD)
    assert read_problem(await admin.post("/knowledge/sources", json=WEB))["status"] == 409
    assert read_problem(await admin.patch(other, json={"name": WEB["name"]}))["status"] == 409
    assert (await admin.patch(source, json={"name": WEB["name"]})).status_code == 200
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "insert into knowledge_sources (tenant_id, name, kind, max_documents, cadence_seconds, created_by)"
            " select %s, 'n' || n, 'upload', 1, 900, 'x' from generate_series(3, %s) as n",
            (tenant, SOURCES),
        )
    assert read_problem(await admin.post("/knowledge/sources", json=UPLOAD | {"name": "More"}))["status"] == 409


async def test_equal_requests_at_once_make_one_source(admin: httpx2.AsyncClient) -> None:
    answers = await asyncio.gather(*(admin.post("/knowledge/sources", json=WEB) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


async def test_a_source_is_changed_disabled_and_enabled(queue: Any, admin: httpx2.AsyncClient) -> None:
    source = await create(admin, WEB)
    await receive(queue)
    changed = (await admin.patch(source, json={"name": "Policies", "cadence_seconds": 900, "max_depth": 0})).json()
    assert (changed["name"], changed["cadence_seconds"], changed["max_depth"]) == ("Policies", 900, 0)
    assert (await admin.patch(source, json={"status": "disabled"})).json()["status"] == "disabled"
    assert read_problem(await admin.post(f"{source}/refresh"))["status"] == 409
    assert await receive(queue) == []
    assert (await admin.patch(source, json={"status": "active"})).json()["status"] == "active"
    assert len(await receive(queue)) == 1


async def test_a_refresh_is_asked_for(queue: Any, admin: httpx2.AsyncClient, tenant: UUID, pool: Pool) -> None:
    source = await create(admin, WEB)
    await receive(queue)
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "update knowledge_sources set next_refresh_at = now() + interval '1 day', requested = false"
        )
    assert (await admin.post(f"{source}/refresh")).status_code == 202
    assert await receive(queue) == [{"tenant_id": str(tenant), "source_id": source.rpartition("/")[2]}]
    async with TenantDatabase(pool, tenant).transaction() as connection:
        row = await (
            await connection.execute("select next_refresh_at <= now() as due, requested from knowledge_sources")
        ).fetchone()
    assert row == {"due": True, "requested": True}


async def test_files_are_stored_listed_and_deleted(
    queue: Any, admin: httpx2.AsyncClient, tenant: UUID, bucket: Any
) -> None:
    source = await create(admin, UPLOAD)
    await receive(queue)
    pdf = make_pdf(["Thirty days of leave."])
    answer = await admin.put(f"{source}/files/leave%20é.pdf", content=pdf, headers={"Content-Type": "application/pdf"})
    assert answer.status_code == 204
    assert len(await receive(queue)) == 1
    listed = (await admin.get(f"{source}/files")).json()["items"]
    assert [(file["name"], file["bytes"]) for file in listed] == [("leave é.pdf", len(pdf))]
    stored = await asyncio.to_thread(lambda: [each.key for each in bucket.objects.all()])
    assert stored == [f"{tenant}/{source.rpartition('/')[2]}/leave é.pdf"]
    assert (await admin.delete(f"{source}/files/leave%20é.pdf")).status_code == 204
    assert (await admin.get(f"{source}/files")).json()["items"] == []


async def test_a_file_that_cannot_be_read_is_refused_at_once(admin: httpx2.AsyncClient, bucket: Any) -> None:
    source = await create(admin, UPLOAD)
    cases = {"a.pdf": (b"no pdf", 415), "a.exe": (b"MZ", 415), "a.txt": (b"", 422)}
    for name, (content, status) in cases.items():
        answer = await admin.put(f"{source}/files/{name}", content=content)
        assert read_problem(answer)["status"] == status
    assert (await admin.get(f"{source}/files")).json()["items"] == []


async def test_a_file_as_long_as_a_refresh_reads_is_taken(admin: httpx2.AsyncClient, bucket: Any) -> None:
    source = await create(admin, UPLOAD)
    text = {"Content-Type": "text/plain"}
    assert (await admin.put(f"{source}/files/a.txt", content=b"leave " * 100_000, headers=text)).status_code == 204
    answer = await admin.put(f"{source}/files/b.txt", content=b"leave " * 200_000, headers=text)
    assert read_problem(answer)["reason"] == "too_many_characters"


async def test_a_name_that_would_be_no_location_is_refused(admin: httpx2.AsyncClient, bucket: Any) -> None:
    source = await create(admin, UPLOAD)
    name = "\U0001f3d6" * 180 + ".txt"
    text = {"Content-Type": "text/plain"}
    for answer in (
        await admin.put(f"{source}/files/{name}", content=b"leave", headers=text),
        await admin.post(f"{source}/files/{name}/upload"),
    ):
        problem: Any = read_problem(answer)
        assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/path/name")


async def test_a_file_that_comes_while_its_source_is_deleted_is_not_kept(
    admin: httpx2.AsyncClient, bucket: Any
) -> None:
    source = await create(admin, UPLOAD)

    async def send_slowly() -> AsyncIterator[bytes]:
        yield b"Thirty days"
        await asyncio.sleep(0.3)
        assert (await admin.delete(source)).status_code == 204
        yield b" of leave."

    answer = await admin.put(f"{source}/files/a.txt", content=send_slowly(), headers={"Content-Type": "text/plain"})
    assert answer.status_code == 404
    assert await asyncio.to_thread(lambda: list(bucket.objects.all())) == []


async def test_only_upload_sources_have_files(admin: httpx2.AsyncClient) -> None:
    source = await create(admin, WEB)
    assert read_problem(await admin.get(f"{source}/files"))["status"] == 409
    answer = await admin.put(f"{source}/files/a.txt", content=b"x", headers={"Content-Type": "text/plain"})
    assert read_problem(answer)["status"] == 409


async def test_a_large_file_is_uploaded_apart(admin: httpx2.AsyncClient, tenant: UUID, bucket: Any) -> None:
    source = await create(admin, UPLOAD)
    permission = (await admin.post(f"{source}/files/large.pdf/upload")).json()
    assert permission["fields"]["key"] == f"{tenant}/{source.rpartition('/')[2]}/large.pdf"
    assert read_problem(await admin.post(f"{source}/files/large.pptx/upload"))["status"] == 415


async def test_deleting_a_source_deletes_what_it_brought(
    admin: httpx2.AsyncClient, tenant: UUID, pool: Pool, bucket: Any
) -> None:
    source = await create(admin, UPLOAD)
    await admin.put(f"{source}/files/a.txt", content=b"Leave", headers={"Content-Type": "text/plain"})
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "insert into knowledge_documents (id, tenant_id, source_id, location, status)"
            " select gen_random_uuid(), %s, %s, 'upload:/' || n, 'indexed' from generate_series(1, 250) as n",
            (tenant, source.rpartition("/")[2]),
        )
    assert (await admin.get(source)).json()["documents"] == {"indexed": 250}
    assert (await admin.delete(source)).status_code == 204
    assert (await admin.get(source)).status_code == 404
    assert await asyncio.to_thread(lambda: list(bucket.objects.all())) == []
    async with TenantDatabase(pool, tenant).transaction() as connection:
        row = await (await connection.execute("select count(*) as n from knowledge_documents")).fetchone()
    assert row == {"n": 0}


async def test_a_source_stays_while_its_files_do(admin: httpx2.AsyncClient, bucket: Any) -> None:
    source = await create(admin, UPLOAD)
    await admin.put(f"{source}/files/a.txt", content=b"Leave", headers={"Content-Type": "text/plain"})
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:DeleteObject",
        "Resource": "arn:aws:s3:::knowledge/*",
    }
    denied = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    await asyncio.to_thread(lambda: bucket.Policy().put(Policy=denied))
    assert read_problem(await admin.delete(f"{source}/files/a.txt"))["status"] == 503
    assert read_problem(await admin.delete(source))["status"] == 503
    assert (await admin.get(source)).json()["status"] == "disabled"
    await asyncio.to_thread(lambda: bucket.Policy().delete())
    assert (await admin.delete(source)).status_code == 204
    assert await asyncio.to_thread(lambda: list(bucket.objects.all())) == []


async def test_documents_are_paged_by_location_and_filtered(
    admin: httpx2.AsyncClient, tenant: UUID, pool: Pool
) -> None:
    source = await create(admin, WEB)
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "insert into knowledge_documents (id, tenant_id, source_id, location, status, reason)"
            " select gen_random_uuid(), %s, %s, 'https://x/' || n, 'refused', 'encrypted'"
            " from generate_series(1, 5) as n",
            (tenant, source.rpartition("/")[2]),
        )
    seen, after = [], None
    for _ in range(4):
        query = {"limit": 2} | ({"after": after} if after else {})
        page = (await admin.get(f"{source}/documents", params=query)).json()
        seen += [item["location"] for item in page["items"]]
        after = page["next_cursor"]
        if after is None:
            break
    assert seen == [f"https://x/{number}" for number in range(1, 6)]
    assert (await admin.get(f"{source}/documents", params={"status": "indexed"})).json()["items"] == []
    assert read_problem(await admin.get(f"{source}/documents", params={"status": "odd"}))["status"] == 422


async def test_history_shows_counts_and_why_a_refresh_failed(
    admin: httpx2.AsyncClient, tenant: UUID, pool: Pool
) -> None:
    source = await create(admin, WEB)
    async with TenantDatabase(pool, tenant).transaction() as connection:
        for number, status in enumerate(("failed", "completed")):
            await connection.execute(
                "insert into knowledge_refreshes (tenant_id, source_id, trigger, status, counts, error, started_at)"
                " values (%s, %s, 'schedule', %s, %s, %s, now() + make_interval(secs => %s))",
                (
                    tenant,
                    source.rpartition("/")[2],
                    status,
                    json.dumps({"new": number}),
                    json.dumps({"reason": "timeout", "detail": "Too slow."}) if status == "failed" else None,
                    number,
                ),
            )
    history = (await admin.get(f"{source}/refreshes")).json()["items"]
    assert [(each["status"], each["counts"]) for each in history] == [("completed", {"new": 1}), ("failed", {"new": 0})]
    assert history[1]["error"] == {"reason": "timeout", "detail": "Too slow."}
    assert (await admin.get(source)).json()["last_refresh"] == history[0]


async def test_metrics_have_no_question(admin: httpx2.AsyncClient, tenant: UUID, pool: Pool) -> None:
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "insert into knowledge_queries (tenant_id, milliseconds, by_text, by_vector, passages)"
            " values (%s, 10, 1, 1, 2), (%s, 20, 0, null, 0)",
            (tenant, tenant),
        )
    days = (await admin.get("/knowledge/metrics")).json()["items"]
    assert [(day["queries"], day["empty"], day["text_only"]) for day in days] == [(2, 1, 1)]
    assert read_problem(await admin.get("/knowledge/metrics", params={"days": 0}))["status"] == 422
