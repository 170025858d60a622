"""A source full of traps: every one ends in a clear status, and the good document beside them is indexed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from tests.integration.knowledge.fetching.conftest import POLICY
from tests.support.hostile_server import FRENCH, SENTENCE, HostileServer, answer, page, redirect, run_hostile_server
from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import Site

# Redirects to the inside, by the path that redirects there.
INSIDE = {
    "/inside/v4": "http://169.254.169.254/latest/meta-data/",
    "/inside/v6": "http://[fd00:ec2::254]/",
    "/inside/mapped": "http://[::ffff:10.0.0.1]/",
    "/inside/decimal": "http://2852039166/",
    "/inside/octal": "http://0251.0376.0251.0376/",
    "/inside/hexadecimal": "http://0xa9fea9fe/",
}
SCHEMES = {"/inside/file": "file:///etc/passwd", "/inside/user": "http://user@127.0.0.1/", "/inside/port": "//a:0/"}
TRAPS = {
    "/slow/header": ("unreachable", "timeout"),
    "/slow/body": ("unreachable", "timeout"),
    "/slow/stopped": ("unreachable", "timeout"),
    "/endless/body": ("refused", "too_large"),
    "/large/declared": ("refused", "too_large"),
    "/large/undeclared": ("refused", "too_large"),
    "/bomb/gzip": ("refused", "too_large_expanded"),
    "/bomb/deflate": ("refused", "too_large_expanded"),
    "/encoding/nested": ("refused", "broken_encoding"),
    "/length/long": ("unreachable", "truncated"),
    "/redirects/one": ("refused", "redirects"),
    "/redirects/self": ("refused", "redirects"),
    "/pdf/scanned": ("empty", "no_text"),
    "/pdf/password": ("refused", "encrypted"),
    "/docx/broken": ("refused", "broken"),
    **dict.fromkeys(INSIDE, ("refused", "address")),
    "/inside/file": ("refused", "scheme"),
    "/inside/user": ("refused", "credentials"),
    "/inside/port": ("refused", "port"),
}
GOOD = ("/good", "/charset/wrong", "/charset/undeclared")


@pytest.fixture
def server(world: World) -> Iterator[HostileServer]:
    """The hostile server as the site of the world, with an entry page that links to everything."""
    with run_hostile_server() as server:
        for path, target in (INSIDE | SCHEMES).items():
            server.put(path, redirect(target))
        links = " ".join(f'<a href="{path}">{path}</a>' for path in (*TRAPS, *GOOD))
        server.put("/", answer(page("Handbook", "Everything about working here, from travel to leave.", links)))
        world.site = cast("Site", server)
        world.policy = replace(
            POLICY, seconds=0.8, first_byte_seconds=0.6, idle_seconds=0.4, bytes=1_000_000, expanded_bytes=2_000_000
        )
        yield server


async def test_every_trap_ends_in_a_status_and_good_documents_are_indexed(world: World, server: HostileServer) -> None:
    source = await world.add_source(depth=1)
    assert await world.refresh(source) == "completed"
    documents = await world.documents(source)
    assert {path: (documents[path]["status"], documents[path]["reason"]) for path in TRAPS} == TRAPS
    for path in GOOD:
        assert documents[path]["status"] == "indexed"
    assert any(SENTENCE in text for text in await world.chunks(source, "/good"))
    for path in ("/charset/wrong", "/charset/undeclared"):
        assert any(FRENCH in text for text in await world.chunks(source, path))
    assert [path for path in TRAPS if await world.chunks(source, path)] == []
    last = await world.last(source)
    assert (last["status"], last["error"]) == ("completed", None)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("/slow/header", "timeout"),
        ("/bomb/gzip", "too_large_expanded"),
        ("/large/undeclared", "too_large"),
        ("/redirects/one", "redirects"),
        ("/inside/v4", "address"),
        ("/pdf/password", "encrypted"),
    ],
)
async def test_a_source_that_is_a_trap_itself_says_why_it_failed(
    world: World, server: HostileServer, entry: str, reason: str
) -> None:
    source = await world.add_source(entry)
    assert await world.refresh(source) == "failed"
    assert (await world.last(source))["error"]["reason"] == reason


async def test_a_document_that_turns_into_a_trap_keeps_its_passages(world: World, server: HostileServer) -> None:
    server.put("/", answer(page("Handbook", "Everything about working here.", '<a href="/turns">Turns</a>')))
    server.put("/turns", answer(page("Travel", SENTENCE)))
    source = await world.add_source(depth=1)
    await world.refresh(source)
    before = await world.chunks(source, "/turns")
    server.routes["/turns"] = server.routes["/bomb/gzip"]
    assert await world.refresh(source) == "completed"
    row = (await world.documents(source))["/turns"]
    assert (row["status"], row["reason"]) == ("refused", "too_large_expanded")
    assert await world.chunks(source, "/turns") == before != []


async def test_a_page_of_ten_thousand_links_is_followed_as_far_as_the_source_may_go(
    world: World, server: HostileServer
) -> None:
    source = await world.add_source("/links", depth=3, most=5)
    assert await world.refresh(source) == "completed"
    assert (await world.statuses(source))["/links"] == "indexed"
    assert len([request for request in server.requests if request.path.startswith("/links")]) == 5
