"""Redirects, hop by hop."""

import pytest

from oria_runtime.knowledge.locations import Scope
from tests.integration.knowledge.fetching.conftest import OpenReader
from tests.support.hostile_server import HostileServer, redirect


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_every_kind_of_redirect_is_followed(server: HostileServer, status: str, open_reader: OpenReader) -> None:
    fetched = await open_reader().read(f"/redirect?to=/good%23part&status={status.replace(' ', '+')}")
    assert fetched.location == f"{server.url}/good"
    assert [hop.partition("?")[0] for hop in fetched.hops] == [f"{server.url}/redirect"]


@pytest.mark.parametrize("path", ["/redirects/self", "/redirects/one", "/redirects/two", "/redirect?to="])
async def test_circles_are_seen(server: HostileServer, path: str, open_reader: OpenReader) -> None:
    assert (await open_reader().fail(path)).reason == "redirects"
    assert len(server.requests) <= 2


async def test_a_redirect_to_what_the_caller_has_read_is_not_fetched_again(
    server: HostileServer, open_reader: OpenReader
) -> None:
    known = {f"{server.url}/good"}
    fetched = await open_reader().read("/redirects/chain", known=known)
    assert (fetched.location, fetched.not_modified, fetched.body) == (f"{server.url}/good", True, b"")
    assert server.seen("/good") == []
    assert (await open_reader().read("/good", known=known)).body


async def test_hops_are_counted(open_reader: OpenReader) -> None:
    reader = open_reader(redirects=3)
    assert len((await reader.read("/redirects/chain?left=2")).hops) == 3
    assert (await reader.fail("/redirects/chain?left=3")).reason == "redirects"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://example.com/", "scheme"),
        ("data:text/html,hello", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://user@127.0.0.1/good", "credentials"),
        ("http://user:secret@127.0.0.1/good", "credentials"),
        ("http://127.0.0.1:0/", "port"),
        ("http://127.0.0.1:70000/", "port"),
        ("http://127.0.0.1:x/", "port"),
        ("http://127.0.0.1:22/", "outside"),
        ("http://example.com/", "outside"),
        ("//example.com/", "outside"),
        ("http://127.0.0.1\\@example.com/", "outside"),
        ("https://127.0.0.1/", "outside"),
        ("/secret", "outside"),
        ("/goods/%2e%2e/secret", "outside"),
        ("http://[::1/", "redirects"),
        ("http://1.2.3.4.5/", "address"),
        ("http://exa mple/", "outside"),
        ("https:///good", "unresolved"),
    ],
)
async def test_a_hop_obeys_the_rules_of_the_first_location(
    server: HostileServer, target: str, reason: str, open_reader: OpenReader
) -> None:
    server.put("/goods/start", redirect(target))
    reader = open_reader()
    error = await reader.fail("/goods/start", scope=Scope((server.url,), ("/good", "/goods")))
    assert error.reason == reason
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "scheme"),
        ("gopher://127.0.0.1/", "scheme"),
        ("http://user@127.0.0.1/", "credentials"),
        ("http://127.0.0.1:0/", "port"),
        ("http://127.0.0.1:6379/", "outside"),
        ("http://example.com/", "outside"),
    ],
)
async def test_the_first_location_is_checked_too(
    server: HostileServer, url: str, reason: str, open_reader: OpenReader
) -> None:
    assert (await open_reader().fail(url)).reason == reason
    assert server.requests == []


async def test_a_redirect_without_a_target_is_a_status(open_reader: OpenReader) -> None:
    error = await open_reader().fail("/status?code=302")
    assert (error.reason, error.status) == ("status", 302)


async def test_paths_are_asked_for_as_they_are(server: HostileServer, open_reader: OpenReader) -> None:
    paths = ["//none", "/none?a=1&b=%20&a=2", "/a;b=1/c:d@e"]
    for path in paths:
        await open_reader().fail(path)
    assert [request.target for request in server.requests] == paths


async def test_a_target_in_utf_8_is_read(server: HostileServer, open_reader: OpenReader) -> None:
    server.put("/start", redirect("/congés payés"))
    server.routes["/cong%C3%A9s%20pay%C3%A9s"] = server.routes["/good"]
    error = await open_reader().fail("/start")
    assert error.reason == "outside"
    server.put("/start", redirect("/congés"))
    server.routes["/cong%C3%A9s"] = server.routes["/good"]
    assert (await open_reader().read("/start")).location.endswith("/cong%C3%A9s")
