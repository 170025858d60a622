"""A folder over HTTP: its documents, the headers that spare a second transfer, and nothing that is not to be seen."""

import asyncio
import os
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio

from local.cloud.folder_server import FolderServer
from local.cloud.http_server import PortInUseError

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = "<!doctype html><title>Travel &amp; expenses</title><h1>Travel</h1>"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FolderServer]:
    tmp_path = tmp_path_factory.mktemp("served")
    folder = tmp_path / "company"
    (folder / "fr" / "more").mkdir(parents=True)
    (folder / "leave.md").write_text("# Annual leave\n\nThirty days.\n")
    (folder / "front.md").write_text("---\ntitle: Code of conduct\nother: 1\n---\n\n## First\n")
    (folder / "travel.html").write_text(PAGE)
    (folder / "fr" / "congés payés.md").write_text("# Congés payés\n")
    (folder / "fr" / "more" / "old.txt").write_bytes("Période d’essai".encode("cp1252"))
    (folder / "report.pdf").write_bytes(b"%PDF-1.7")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    (folder / ".secret.md").write_text("# Hidden\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("# Hidden\n")
    (tmp_path / "outside.md").write_text("# Outside\n")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "inside.md").symlink_to(folder / "leave.md")
    (folder / "loop").symlink_to(folder)
    server = FolderServer(folder)
    await server.start()
    yield server
    await server.close()


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: FolderServer) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.url) as client:
        yield client


async def test_the_index_links_every_document_under_its_title(client: httpx2.AsyncClient) -> None:
    page = await client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for link in (
        '<a href="/leave.md">Annual leave</a>',
        '<a href="/front.md">Code of conduct</a>',
        '<a href="/travel.html">Travel &amp; expenses</a>',
        '<a href="/report.pdf">Report</a>',
        '<a href="/fr/cong%C3%A9s%20pay%C3%A9s.md">Congés payés</a>',
        '<a href="/fr/more/old.txt">Old</a>',
        '<a href="/inside.md">Annual leave</a>',
    ):
        assert link in page.text
    assert page.text.count("<a ") == 7


async def test_documents_have_the_media_type_and_charset_that_they_are_written_in(client: httpx2.AsyncClient) -> None:
    types = {
        "/leave.md": "text/markdown; charset=utf-8",
        "/travel.html": "text/html; charset=utf-8",
        "/report.pdf": "application/pdf",
        "/fr/cong%C3%A9s%20pay%C3%A9s.md": "text/markdown; charset=utf-8",
        "/fr/more/old.txt": "text/plain",
    }
    for path, media_type in types.items():
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)


async def test_what_did_not_change_is_not_sent_again(server: FolderServer, client: httpx2.AsyncClient) -> None:
    for path in ("/", "/leave.md"):
        first = await client.get(path)
        again = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    by_date = await client.get("/leave.md", headers={"If-Modified-Since": first.headers["last-modified"]})
    assert by_date.status_code == 304

    file = server.folder.path / "leave.md"
    file.write_text("# Annual leave\n\nTwenty-eight days.\n")
    os.utime(file, (2_000_000_000, 2_000_000_000))
    changed = await client.get("/leave.md", headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, changed.text) == (200, file.read_text())
    assert server.answers["/leave.md", 304] == 2


async def test_head_has_the_headers_and_no_body(client: httpx2.AsyncClient) -> None:
    for path in ("/", "/leave.md"):
        full, head = await client.get(path), await client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["etag"] == full.headers["etag"]


@pytest.mark.parametrize(
    "path",
    [
        *("/link.md", "/.secret.md", "/.git/notes.md", "/logo.png", "/missing.md", "/fr", "/loop/link.md"),
        *("/../outside.md", "/%2e%2e/outside.md", "/fr/..%2f..%2foutside.md", "//etc/hostname", "/a%00.md"),
        f"/{'long' * 200}.md",
    ],
)
async def test_nothing_hidden_and_nothing_outside_is_served(server: FolderServer, path: str) -> None:
    # Not through a client: that would tidy the path before it sends it.
    address = server.url.removeprefix("http://")
    assert (await request(address, "GET", path)).startswith("HTTP/1.1 404")


async def test_a_folder_is_only_read(server: FolderServer) -> None:
    assert (await request(server.url.removeprefix("http://"), "DELETE", "/leave.md")).startswith("HTTP/1.1 405")


async def test_a_port_that_is_taken_is_named(server: FolderServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(PortInUseError, match=f"port {port} is in use"):
        FolderServer(server.folder.path, port=port)


async def request(address: str, method: str, path: str) -> str:
    """The answer to a request whose path is sent as it is written."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.decode(errors="replace")
