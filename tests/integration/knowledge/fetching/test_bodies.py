"""Bodies that are too long, too slow, cut, packed or not what they say."""

import asyncio
import hashlib
import time
import tracemalloc

import pytest

from oria_runtime.documents.formats import DOCX, PDF
from oria_runtime.knowledge.fetching.charset import decode
from oria_runtime.knowledge.fetching.exchange import Room
from oria_runtime.knowledge.fetching.media import HTML, SITEMAP_TYPES
from tests.integration.knowledge.fetching.conftest import HURRIED, OpenReader
from tests.support.hostile_server import FRENCH, LINKS, SENTENCE, HostileServer, answer, head, page

SLOW = ("/slow/silent", "/slow/header", "/slow/body", "/slow/stopped")
# What keeps a processor busy until the deadline, the server's share of it included.
BUSY = ("/endless/interim", "/endless/chunks")
ENDS = {
    **dict.fromkeys(SLOW + BUSY, "timeout"),
    "/endless/body": "too_large",
    "/endless/header": "unreachable",
    "/large/declared": "too_large",
    "/large/undeclared": "too_large",
    "/bomb/gzip": "too_large_expanded",
    "/bomb/deflate": "too_large_expanded",
    "/encoding/nested": "broken_encoding",
    "/encoding/repeated": "broken_encoding",
    "/encoding/unasked": "broken_encoding",
    "/encoding/broken": "broken_encoding",
    "/encoding/cut": "truncated",
    "/length/long": "truncated",
    "/length/chunk": "truncated",
    "/garbage": "unreachable",
    "/image": "unsupported",
}


@pytest.mark.parametrize(("path", "reason"), ENDS.items())
async def test_every_misdeed_ends_in_its_reason_within_the_deadline(
    open_reader: OpenReader, path: str, reason: str
) -> None:
    assert (await open_reader(**(HURRIED if path in SLOW + BUSY else {})).fail(path)).reason == reason


async def test_misdeeds_do_not_disturb_fetches_beside_them(server: HostileServer, open_reader: OpenReader) -> None:
    """All of them at once on one Fetcher, and good pages asked for all the while."""
    reader = open_reader(seconds=1.0, first_byte_seconds=0.6, idle_seconds=0.5)
    paths = [path for path in ENDS if path not in BUSY]
    misdeeds = [asyncio.create_task(reader.fail(path)) for path in paths]
    slowest = 0.0
    while not all(task.done() for task in misdeeds):
        began = time.monotonic()
        assert SENTENCE.encode() in (await reader.read("/good")).body
        slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(0.02)
    assert [(await task).reason for task in misdeeds] == [ENDS[path] for path in paths]
    assert slowest < 0.6
    assert len(server.seen("/good")) >= 10


@pytest.mark.parametrize("path", BUSY)
async def test_an_answer_that_costs_processor_time_leaves_some_to_others(open_reader: OpenReader, path: str) -> None:
    flood = asyncio.create_task(open_reader(seconds=0.4, first_byte_seconds=0.4).fail(path))
    reader, read = open_reader(), 0
    while not flood.done():
        read += bool((await reader.read("/good")).body)
    assert (await flood).reason == "timeout"
    assert read > 1


@pytest.mark.parametrize("path", ["/large/declared", "/large/undeclared", "/endless/body", "/bomb/gzip"])
async def test_what_is_too_large_is_never_held_in_memory(open_reader: OpenReader, path: str) -> None:
    reader = open_reader(bytes=1_000_000, expanded_bytes=1_000_000)
    await reader.fail(path)
    tracemalloc.start()
    try:
        await reader.fail(path)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


async def test_a_declared_length_is_refused_before_the_body_is_read(open_reader: OpenReader) -> None:
    error = await open_reader(bytes=299_999_999).fail("/large/declared")
    assert error.reason == "too_large"


async def test_the_limits_are_inclusive(server: HostileServer, open_reader: OpenReader) -> None:
    server.put("/exact", answer(b"x" * 1_000, kind="text/plain"))
    assert len((await open_reader(bytes=1_000, expanded_bytes=1_000).read("/exact")).body) == 1_000
    assert (await open_reader(bytes=999).fail("/exact")).reason == "too_large"
    assert (await open_reader(expanded_bytes=999).fail("/exact")).reason == "too_large_expanded"
    assert len((await open_reader(bytes=10).read("/exact", room=Room(1_000, 1_000))).body) == 1_000


async def test_a_length_that_is_too_short_ends_the_document_and_hurts_nobody_else(open_reader: OpenReader) -> None:
    reader = open_reader()
    assert (await reader.read("/length/short")).body == b"<p>"
    for _ in range(3):
        assert SENTENCE.encode() in (await reader.read("/good")).body


async def test_a_compressed_page_is_read(server: HostileServer, open_reader: OpenReader) -> None:
    fetched = await open_reader().read("/gzip")
    assert fetched.body == page("Travel", SENTENCE)
    assert fetched.body_hash == hashlib.sha256(fetched.body).hexdigest()
    assert server.requests[0].headers["accept-encoding"] == b"gzip, deflate"


async def test_a_page_of_ten_thousand_links_is_read_whole(open_reader: OpenReader) -> None:
    assert (await open_reader().read("/links")).body.count(b"<a ") == LINKS


@pytest.mark.parametrize("case", ["undeclared", "wrong", "meta", "conflict", "default"])
async def test_wrong_charsets_are_read_rightly(open_reader: OpenReader, case: str) -> None:
    fetched = await open_reader().read(f"/charset/{case}")
    assert FRENCH in decode(fetched.body, fetched.charset_declared)[0]


@pytest.mark.parametrize(("path", "kind"), [("/pdf/scanned", PDF), ("/pdf/password", PDF), ("/docx/broken", DOCX)])
async def test_documents_without_text_are_fetched_for_the_extractor(
    open_reader: OpenReader, path: str, kind: str
) -> None:
    assert (await open_reader().read(path)).media_type == kind


async def test_what_is_not_read_here_is_not_downloaded(server: HostileServer, open_reader: OpenReader) -> None:
    server.put("/film", head("200 OK", ("Content-Type", "video/mp4"), length=10_000))
    assert (await open_reader().fail("/film")).reason == "unsupported"
    assert (await open_reader().fail("/good", accept_types=SITEMAP_TYPES)).reason == "unsupported"


async def test_a_body_of_no_declared_type_is_looked_at(server: HostileServer, open_reader: OpenReader) -> None:
    server.put("/untyped", head("200 OK", length=len(page("a", "b"))) + page("a", "b"))
    server.put("/binary", head("200 OK", ("Content-Type", "application/octet-stream"), length=4) + b"\x00\x01\x02\x03")
    assert (await open_reader().read("/untyped")).media_type == HTML
    assert (await open_reader().fail("/binary")).reason == "unsupported"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        *((code, "status") for code in (202, 206, 304, 400, 401, 403, 500, 502)),
        *((code, "gone") for code in (404, 410)),
        *((code, "retry_later") for code in (429, 503)),
    ],
)
async def test_statuses_have_reasons(open_reader: OpenReader, code: int, reason: str) -> None:
    error = await open_reader().fail(f"/status?code={code}")
    assert error.reason == reason
    assert error.status in (code, None)
    assert (error.retry_at is not None) == (reason == "retry_later")


async def test_no_cookies_are_kept(server: HostileServer, open_reader: OpenReader) -> None:
    reader = open_reader()
    for _ in range(2):
        await reader.read("/cookie")
    assert all("cookie" not in request.headers for request in server.requests)


async def test_a_connection_that_the_server_dropped_is_replaced(server: HostileServer, open_reader: OpenReader) -> None:
    reader = open_reader()
    await reader.read("/drop")
    assert (await reader.read("/good")).body
    assert len(server.seen("/good")) == 2


async def test_a_cancelled_fetch_ends_at_once_and_leaves_the_fetcher_usable(open_reader: OpenReader) -> None:
    reader = open_reader(seconds=5.0, first_byte_seconds=5.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await reader.read("/slow/silent")
    assert (await reader.read("/good")).body


async def test_a_name_server_that_does_not_answer_is_a_timeout(server: HostileServer, open_reader: OpenReader) -> None:
    class Silent:
        async def __call__(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    reader = open_reader("http://slow.example.test", resolver=Silent(), **HURRIED)
    assert (await reader.fail("http://slow.example.test/")).reason == "timeout"


async def test_a_closed_port_is_unreachable(open_reader: OpenReader) -> None:
    assert (await open_reader("http://127.0.0.1:1").fail("http://127.0.0.1:1/")).reason == "unreachable"
