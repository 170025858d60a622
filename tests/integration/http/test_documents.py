"""Documents over HTTP: stored, replaced, listed, deleted, uploaded apart, and named by a turn."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import boto3
import httpx2
import pytest

from local.sample_tenant.load import DOCUMENTS
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.documents import limits
from oria_runtime.documents.rows import Place
from oria_runtime.documents.uploads import UploadBucket
from tests.integration.http.conftest import BASE_URL
from tests.integration.http.test_errors import read_problem
from tests.support.documents import make_pdf

TEXT = {"Content-Type": "text/plain"}


@pytest.fixture
async def place(ada: httpx2.AsyncClient) -> str:
    """The documents of a conversation of hers."""
    conversation = (await ada.post("/conversations", json={"assistant": "oria"})).json()["id"]
    return f"/conversations/{conversation}/documents"


@pytest.fixture
async def bucket(aws: str) -> AsyncIterator[Any]:
    """The bucket of uploads, empty."""
    s3 = boto3.client("s3")
    await asyncio.to_thread(
        lambda: s3.create_bucket(Bucket="uploads", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    )
    found = boto3.resource("s3").Bucket("uploads")
    yield found
    await asyncio.to_thread(found.objects.delete)
    await asyncio.to_thread(found.delete)


async def test_a_document_is_stored_as_text_and_replaced_as_a_whole(ada: httpx2.AsyncClient, place: str) -> None:
    cv = (DOCUMENTS / "amira-haddad-cv.pdf").read_bytes()
    answer = await ada.put(f"{place}/cv.pdf", content=cv, headers={"Content-Type": "application/pdf"})
    document = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{BASE_URL}/v1{place}/cv.pdf"
    assert document["created_at"] == document["updated_at"]
    assert {key: document[key] for key in ("name", "media_type", "bytes", "pages", "warnings", "title")} == {
        "name": "cv.pdf",
        "media_type": "application/pdf",
        "bytes": len(cv),
        "pages": 1,
        "warnings": [],
        "title": "Curriculum vitae of Amira Haddad",
    }
    read = (await ada.get(f"{place}/cv.pdf")).json()
    assert "women who want to enter technical jobs" in " ".join(read.pop("text").split())
    assert read == document
    again = await ada.put(f"{place}/cv.pdf", content=make_pdf(["New", None]))
    assert again.status_code == 200
    assert again.json()["warnings"] == [{"code": "pages_without_text", "pages": [2]}]
    assert again.json()["created_at"] == document["created_at"]
    assert (await ada.get(f"{place}/cv.pdf")).json()["text"] == "New"
    assert (await ada.get(place)).json()["items"] == [again.json()]


async def test_a_document_that_cannot_be_read_leaves_the_stored_one(ada: httpx2.AsyncClient, place: str) -> None:
    await ada.put(f"{place}/cv.pdf", content=make_pdf(["Kept"]))
    scan = (DOCUMENTS / "power-bi-certificate-scan.pdf").read_bytes()
    problem = read_problem(await ada.put(f"{place}/cv.pdf", content=scan))
    assert (problem["status"], problem["reason"]) == (422, "no_text")
    for name, content, status, reason in (
        ("cv.pdf", b"hello", 415, "type_mismatch"),
        ("cv.exe", b"MZ", 415, "unsupported"),
        ("cv.pdf", b"", 422, "empty"),
        ("cv.pdf", make_pdf(["x"], password="pw"), 422, "encrypted"),
        ("a.txt", b"x" * (limits.ExtractionLimits.characters + 1), 413, "too_many_characters"),
    ):
        problem = read_problem(await ada.put(f"{place}/{name}", content=content))
        assert (problem["status"], problem["reason"]) == (status, reason)
    assert (await ada.put(f"{place}/a.txt", content=b"x" * 4_500_001)).status_code == 413
    assert (await ada.put(f"{place}/a.txt", content=b"x", headers={"Content-Encoding": "gzip"})).status_code == 415
    assert [(item["name"], item["characters"]) for item in (await ada.get(place)).json()["items"]] == [("cv.pdf", 4)]


async def test_names_are_any_persons(ada: httpx2.AsyncClient, place: str) -> None:
    for name in ("Ünïcode – 履歴書 👩‍💻.txt", "100% mine, really?.txt", ".txt", "a" * 196 + ".txt"):
        answer = await ada.put(f"{place}/{quote(name, safe='')}", content=b"Hello", headers=TEXT)
        assert (answer.status_code, answer.json()["name"]) == (201, name)
        assert (await follow(ada, answer.headers["location"])).json()["text"] == "Hello"


async def follow(client: httpx2.AsyncClient, link: str) -> httpx2.Response:
    """What is behind one of the API's own links."""
    return await client.get(link.removeprefix(f"{BASE_URL}/v1"))


async def test_the_same_letters_are_the_same_name(ada: httpx2.AsyncClient, place: str) -> None:
    composed, decomposed = "r\u00e9sum\u00e9.txt", "re\u0301sume\u0301.txt"
    await ada.put(f"{place}/{quote(decomposed)}", content=b"Hello", headers=TEXT)
    assert (await ada.get(f"{place}/{quote(composed)}")).json()["name"] == composed
    turn = {"message": "Look at it", "attachments": [decomposed]}
    assert (await ada.post(place.replace("documents", "turns"), json=turn)).status_code == 202
    assert (await ada.delete(f"{place}/{quote(decomposed)}")).status_code == 204
    assert (await ada.get(place)).json()["items"] == []


async def test_names_that_are_paths_or_traps_are_refused(ada: httpx2.AsyncClient, place: str) -> None:
    invisible = ("a\u202etxt.txt", "a\u200b.txt", "\ufeffa.txt", "a\u00ad.txt")
    for name in ("..", "a\\b.txt", "a\x00.txt", "a\n.txt", " a.txt", *invisible, "a" * 201):
        encoded = quote(name, safe="").replace(".", "%2E")
        answer = await ada.put(f"{place}/{encoded}", content=b"Hello", headers=TEXT)
        assert (answer.status_code, read_problem(answer)["errors"]) != (422, [])
        assert answer.status_code == (await ada.post(f"{place}/{encoded}/upload")).status_code == 422
        assert (await ada.get(f"{place}/{encoded}")).status_code == 404
        assert (await ada.delete(f"{place}/{encoded}")).status_code == 404


async def test_only_the_owner_sees_that_there_is_anything(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, namesake: httpx2.AsyncClient, place: str
) -> None:
    await ada.put(f"{place}/a.txt", content=b"Hello", headers=TEXT)
    answers = set()
    for client in (bob, namesake, ada):
        for path in (place, f"/conversations/{uuid4()}/documents", "/conversations/nonsense/documents"):
            if client is ada and path == place:
                continue
            for answer in (
                await client.get(path),
                await client.get(f"{path}/a.txt"),
                await client.put(f"{path}/a.txt", content=b"Mine", headers=TEXT),
                await client.put(f"{path}/a.txt", json={"upload_id": str(uuid4())}),
                await client.post(f"{path}/a.txt/upload"),
                await client.delete(f"{path}/a.txt"),
            ):
                answers.add(answer.status_code)
    assert answers == {404}
    assert (await ada.get(f"{place}/a.txt")).json()["text"] == "Hello"


async def test_documents_go_with_their_conversation(
    ada: httpx2.AsyncClient, place: str, pool: Pool, tenant: UUID
) -> None:
    await ada.put(f"{place}/a.txt", content=b"Hello", headers=TEXT)
    await ada.delete(place.removesuffix("/documents"))
    async with TenantDatabase(pool, tenant).transaction() as connection:
        row = await (await connection.execute("select count(*) as n from documents")).fetchone()
    assert row == {"n": 0}


async def test_a_conversation_takes_so_many_documents_and_no_more(
    ada: httpx2.AsyncClient, place: str, pool: Pool, tenant: UUID
) -> None:
    async with TenantDatabase(pool, tenant).transaction() as connection:
        await connection.execute(
            "insert into documents (tenant_id, conversation_id, name, media_type, bytes, characters, content)"
            " select %s, %s, number || '.txt', 'text/plain', 1, %s, '' from generate_series(1, %s) number",
            (tenant, place.split("/")[2], limits.CONVERSATION_CHARACTERS // 50, limits.DOCUMENTS),
        )
    assert (await ada.put(f"{place}/a.txt", content=b"Hello", headers=TEXT)).status_code == 413
    assert (await ada.put(f"{place}/1.txt", content=b"Hello", headers=TEXT)).status_code == 200
    assert (await ada.put(f"{place}/1.txt", content=b"x" * 50_000, headers=TEXT)).status_code == 413
    assert (await ada.get(f"{place}/1.txt")).json()["text"] == "Hello"


async def test_replacing_at_once_leaves_one_whole_document(ada: httpx2.AsyncClient, place: str) -> None:
    puts = [ada.put(f"{place}/a.txt", content=str(number) * 2_000, headers=TEXT) for number in range(6)]
    answers = await asyncio.gather(*puts)
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [201]
    text = (await ada.get(f"{place}/a.txt")).json()["text"]
    assert text in {str(number) * 2_000 for number in range(6)}


async def upload(ada: httpx2.AsyncClient, place: str, content: bytes) -> tuple[dict[str, Any], httpx2.Response]:
    """Permission, and what the storage said to the file."""
    permission = (await ada.post(f"{place}/large.pdf/upload")).json()
    async with httpx2.AsyncClient() as client:
        stored = await client.post(permission["url"], data=permission["fields"], files={"file": ("large.pdf", content)})
    return permission, stored


async def test_a_large_file_is_uploaded_apart_and_taken_once(ada: httpx2.AsyncClient, place: str, bucket: Any) -> None:
    content = make_pdf(["Large"]) + b"%" * 5_000_000
    permission, stored = await upload(ada, place, content)
    assert stored.status_code == 204
    assert permission["max_bytes"] == limits.UPLOAD_BYTES
    taken = {"upload_id": permission["upload_id"]}
    answer = await ada.put(f"{place}/large.pdf", json=taken)
    assert (answer.status_code, answer.json()["bytes"]) == (201, len(content))
    assert await asyncio.to_thread(lambda: list(bucket.objects.all())) == []
    again = await ada.put(f"{place}/large.pdf", json=taken)
    assert (again.status_code, again.json()) == (200, answer.json()), "the answer may have been lost"
    assert (await ada.put(f"{place}/other.pdf", json=taken)).status_code == 409
    assert (await ada.get(f"{place}/large.pdf")).json()["text"] == "Large"


async def test_taking_an_upload_twice_at_once_gives_one_document(
    ada: httpx2.AsyncClient, place: str, bucket: Any
) -> None:
    permission, _ = await upload(ada, place, make_pdf(["Once"]))
    taken = {"upload_id": permission["upload_id"]}
    answers = await asyncio.gather(*(ada.put(f"{place}/large.pdf", json=taken) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len((await ada.get(place)).json()["items"]) == 1


async def test_nobody_elses_upload_can_be_taken(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, place: str, bucket: Any
) -> None:
    permission, _ = await upload(ada, place, make_pdf(["Secret"]))
    taken = {"upload_id": permission["upload_id"]}
    conversation = (await bob.post("/conversations", json={"assistant": "oria"})).json()["id"]
    assert (await bob.put(f"/conversations/{conversation}/documents/large.pdf", json=taken)).status_code == 409
    other = (await ada.post("/conversations", json={"assistant": "oria"})).json()["id"]
    assert (await ada.put(f"/conversations/{other}/documents/large.pdf", json=taken)).status_code == 409
    assert (await ada.put(f"{place}/large.pdf", json=taken)).status_code == 201


async def test_an_upload_that_is_not_there_or_too_large_is_told(
    ada: httpx2.AsyncClient, place: str, bucket: Any
) -> None:
    early = (await ada.post(f"{place}/large.pdf/upload")).json()["upload_id"]
    for identifier in (early, str(uuid4()), "nonsense", f"../{early}"):
        assert (await ada.put(f"{place}/large.pdf", json={"upload_id": identifier})).status_code == 409
    for body in ({}, {"upload_id": 1}, {"upload_id": early, "key": "x"}):
        problem = read_problem(await ada.put(f"{place}/large.pdf", json=body))
        assert problem["status"] == 422
    key = f"{place.split('/')[2]}/{early}"
    tenant = (await ada.post(f"{place}/large.pdf/upload")).json()["fields"]["key"].split("/")[0]
    large = b"%PDF-" + b"0" * limits.UPLOAD_BYTES
    await asyncio.to_thread(lambda: bucket.put_object(Key=f"{tenant}/{key}", Body=large))
    assert (await ada.put(f"{place}/large.pdf", json={"upload_id": early})).status_code == 413


async def test_a_file_of_another_kind_gets_no_permission(ada: httpx2.AsyncClient, place: str) -> None:
    for name in ("slides.pptx", "noending"):
        problem = read_problem(await ada.post(f"{place}/{name}/upload"))
        assert (problem["status"], problem["reason"]) == (415, "unsupported")


async def test_permission_is_for_one_key_and_a_bounded_size(ada: httpx2.AsyncClient, place: str, bucket: Any) -> None:
    permission = (await ada.post(f"{place}/large.pdf/upload")).json()
    policy = json.loads(base64.b64decode(permission["fields"]["policy"]))
    assert ["content-length-range", 1, limits.UPLOAD_BYTES] in policy["conditions"]
    assert {"key": permission["fields"]["key"]} in policy["conditions"]
    assert {"bucket": "uploads"} in policy["conditions"]
    assert permission["fields"]["x-amz-algorithm"] == "AWS4-HMAC-SHA256"


async def test_storage_that_is_away_is_a_503(
    ada: httpx2.AsyncClient, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    answer = await ada.put(f"{place}/large.pdf", json={"upload_id": str(uuid4())})
    assert answer.status_code == 503


async def test_attachments_name_documents_of_the_conversation(ada: httpx2.AsyncClient, place: str) -> None:
    turns = place.replace("documents", "turns")
    await ada.put(f"{place}/cv.txt", content=b"Hello", headers=TEXT)
    problem = read_problem(await ada.post(turns, json={"message": "Hi", "attachments": ["cv.txt", "no.txt"]}))
    assert (problem["status"], problem["errors"]) == (
        422,
        [{"pointer": "/attachments/1", "detail": "is no document of the conversation"}],
    )
    assert (await ada.get(place.removesuffix("/documents"))).json()["active_turn_id"] is None
    assert (await ada.post("/chat", json={"message": "Hi", "attachments": ["cv.txt"]})).status_code == 422
    answer = await ada.post(turns, json={"message": "Hi", "attachments": ["cv.txt"]})
    assert answer.status_code == 202


async def test_permission_names_the_buckets_own_region(
    monkeypatch: pytest.MonkeyPatch, database: TenantDatabase
) -> None:
    """The global address redirects to a young bucket's region, and a form cannot follow with its file."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-west-1",
    }.items():
        monkeypatch.setenv(name, value)
    upload = await UploadBucket("oria-uploads").prepare(Place(database, "ada", uuid4()))
    assert upload.url == "https://oria-uploads.s3.eu-west-1.amazonaws.com/"
