"""No way leads inside: not by name, by redirect, by spelling, or by a name server that changes its mind."""

from urllib.parse import quote

import pytest

from oria_runtime.knowledge.locations import Scope
from tests.integration.knowledge.fetching.conftest import Names, OpenReader
from tests.support.hostile_server import HostileServer, run_hostile_server

NAME = "handbook.example.test"

# Spelled out in the location itself: IPv4, IPv6, mapped, translated, decimal, octal, hexadecimal, short.
SPELLED = [
    *("10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "168.63.129.16"),
    *("2852039166", "0xa9fea9fe", "025177524776", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe", "169.254.43518"),
    *("167772161", "10.1", "0", "224.0.0.1", "255.255.255.255"),
    *("[fe80::1]", "[fd00:ec2::254]", "[::]", "[ff02::1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]"),
    *("[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]"),
    *("[2001:0:4136:e378:8000:63bf:f5ff:fffe]", "[2606:4700::5efe:10.0.0.1]"),
]
LOOPBACK = [
    *("127.0.0.1", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "017700000001", "0177.0.0.01", "0x7f.1"),
    *("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"),
]


@pytest.mark.parametrize("host", SPELLED)
async def test_redirects_to_internal_addresses_are_not_followed(
    names: Names, host: str, open_reader: OpenReader
) -> None:
    reader = open_reader(f"http://{host}")
    error = await reader.fail(f"/redirect?to={quote(f'http://{host}/latest/meta-data/')}")
    assert error.reason == "address"
    assert names.asked == []


@pytest.mark.parametrize("host", LOOPBACK)
async def test_loopback_in_every_spelling_needs_the_setting(
    server: HostileServer, host: str, open_reader: OpenReader
) -> None:
    reader = open_reader(allow_loopback=False)
    url = f"http://{host}:{server.port}/good"
    scope = Scope((f"http://{host}:{server.port}", server.url, f"http://[::1]:{server.port}"))
    assert (await reader.fail(url, scope=scope)).reason == "address"
    assert server.requests == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::ffff:10.0.0.1"],
        ["fe80::1%eth0"],
        ["127.0.0.1", "10.0.0.1"],
        ["10.0.0.1", "127.0.0.1"],
        ["127.0.0.1", "::ffff:127.0.0.1"],
        ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "64:ff9b::a00:1"],
    ],
)
async def test_a_name_is_refused_when_one_of_its_addresses_is_internal(
    server: HostileServer, names: Names, addresses: list[str], open_reader: OpenReader
) -> None:
    names.answers[NAME] = [addresses]
    reader = open_reader(f"http://{NAME}:{server.port}")
    assert (await reader.fail(f"http://{NAME}:{server.port}/good")).reason == "address"
    assert (await reader.fail(f"/redirect?to=http://{NAME}:{server.port}/good")).reason == "address"
    assert server.seen("/good") == []


async def test_the_connection_goes_to_the_address_that_was_checked(names: Names, open_reader: OpenReader) -> None:
    names.answers[NAME] = [["127.0.0.2"]]
    with run_hostile_server(host="127.0.0.2") as server:
        base = f"http://{NAME}:{server.port}"
        reader = open_reader(base)
        fetched = await reader.read(f"{base}/good")
    assert fetched.location == f"{base}/good"
    assert server.requests[0].headers["host"] == f"{NAME}:{server.port}".encode()
    assert names.asked == [NAME]


async def test_a_name_that_leads_elsewhere_after_the_check_gains_nothing(
    server: HostileServer, names: Names, open_reader: OpenReader
) -> None:
    """The second answer would lead inside. The first fetch asks once; the next connection is checked anew."""
    names.answers[NAME] = [["127.0.0.1"], ["169.254.169.254"]]
    base = f"http://{NAME}:{server.port}"
    reader = open_reader(base)
    async with reader.fetcher:
        assert (await reader.read(f"{base}/good")).media_type == "text/html"
        assert names.asked == [NAME]
    again = open_reader(base)
    assert (await again.fail(f"{base}/good")).reason == "address"
    assert names.asked == [NAME, NAME]


async def test_a_kept_connection_stays_with_its_checked_address(
    server: HostileServer, names: Names, open_reader: OpenReader
) -> None:
    names.answers[NAME] = [["127.0.0.1"], ["10.0.0.1"]]
    base = f"http://{NAME}:{server.port}"
    reader = open_reader(base)
    async with reader.fetcher:
        for _ in range(3):
            await reader.read(f"{base}/good")
    assert names.asked == [NAME]


async def test_an_address_that_does_not_answer_is_followed_by_the_next(
    server: HostileServer, names: Names, open_reader: OpenReader
) -> None:
    names.answers[NAME] = [["127.0.0.3", "::1", "127.0.0.1"]]
    base = f"http://{NAME}:{server.port}"
    assert (await open_reader(base).read(f"{base}/good")).body


async def test_names_without_addresses_are_unresolved(names: Names, open_reader: OpenReader) -> None:
    names.answers["empty.example.test"] = [[]]
    reader = open_reader("http://unknown.example.test", "http://empty.example.test", "http://a..b")
    assert (await reader.fail("http://unknown.example.test/")).reason == "unresolved"
    assert (await reader.fail("http://empty.example.test/")).reason == "unresolved"
    assert (await reader.fail("http://a..b/")).reason == "unresolved"


async def test_proxies_and_hosts_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, open_reader: OpenReader
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await open_reader().read("/good")).body
