"""Pauses between requests, Retry-After, and robots.txt."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.knowledge.fetching.conftest import HURRIED, POLICY, OpenReader
from tests.support.hostile_server import HostileServer, answer, redirect

NOW = datetime(2025, 11, 29, 8, 0, tzinfo=UTC)


def put_rules(server: HostileServer, rules: str) -> None:
    """A robots.txt."""
    server.put("/robots.txt", answer(rules.encode(), kind="text/plain"))


async def test_requests_to_one_host_keep_their_distance(server: HostileServer, open_reader: OpenReader) -> None:
    """The waits are not the server's: together they are longer than a fetch may take."""
    reader = open_reader(delay_seconds=0.2, seconds=0.5)
    began = time.monotonic()
    await asyncio.gather(*(reader.read("/good") for _ in range(4)))
    assert time.monotonic() - began >= 0.6


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("120", 120),
        ("Sat, 29 Nov 2025 08:05:00 GMT", 300),
        ("999999999999", POLICY.most_retry_seconds),
        ("Sat, 29 Nov 2036 08:05:00 GMT", POLICY.most_retry_seconds),
        ("0", 1),
        ("Sat, 29 Nov 2024 08:05:00 GMT", 1),
        ("tomorrow", POLICY.retry_seconds),
    ],
)
@pytest.mark.parametrize("code", [429, 503])
async def test_retry_after_is_obeyed_within_bounds(
    open_reader: OpenReader, code: int, after: str, seconds: float
) -> None:
    error = await open_reader(clock=lambda: NOW).fail(f"/status?code={code}&after={after.replace(' ', '+')}")
    assert (error.reason, error.status) == ("retry_later", code)
    assert error.retry_at == NOW + timedelta(seconds=seconds)


async def test_a_host_that_named_a_time_is_left_alone_until_then(
    server: HostileServer, open_reader: OpenReader
) -> None:
    now = NOW
    reader = open_reader(clock=lambda: now)
    await reader.fail("/status?code=429&after=30")
    error = await reader.fail("/good")
    assert (error.reason, error.retry_at) == ("retry_later", NOW + timedelta(seconds=30))
    assert server.seen("/good") == []
    now += timedelta(seconds=31)
    assert (await reader.read("/good")).body


async def test_robots_txt_forbids_and_is_read_once(server: HostileServer, open_reader: OpenReader) -> None:
    put_rules(server, "User-agent: *\nDisallow: /links\nDisallow: /*.pdf$\nAllow: /links/public")
    reader = open_reader(robots=True)
    fetches = await asyncio.gather(*(reader.read("/good") for _ in range(5)))
    assert len(fetches) == 5
    assert (await reader.fail("/links")).reason == "robots"
    assert (await reader.fail("/pdf/a.pdf")).reason == "robots"
    assert (await reader.fail("/redirect?to=/links")).reason == "robots"
    assert (await reader.fail("/links/public")).reason == "gone"
    assert len(server.seen("/robots.txt")) == 1
    assert server.seen("/links") == []


async def test_without_the_setting_robots_txt_is_not_asked_for(server: HostileServer, open_reader: OpenReader) -> None:
    put_rules(server, "User-agent: *\nDisallow: /")
    assert (await open_reader().read("/good")).body
    assert server.seen("/robots.txt") == []


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418])
async def test_a_site_that_has_no_rules_allows_everything(
    server: HostileServer, open_reader: OpenReader, code: int
) -> None:
    server.put("/robots.txt", answer(b"no", status=f"{code} No"))
    assert (await open_reader(robots=True).read("/good")).body


@pytest.mark.parametrize(
    ("status", "reason"), [("500 Broken", "status"), ("503 Busy", "retry_later"), ("429 Slow", "retry_later")]
)
async def test_a_site_whose_rules_cannot_be_read_now_is_not_read_now(
    server: HostileServer, open_reader: OpenReader, status: str, reason: str
) -> None:
    server.put("/robots.txt", answer(b"no", status=status))
    reader = open_reader(robots=True)
    for _ in range(2):
        assert (await reader.fail("/good")).reason == reason
    assert len(server.seen("/robots.txt")) == 1
    assert server.seen("/good") == []


async def test_rules_are_asked_for_again_when_the_named_time_has_come(
    server: HostileServer, open_reader: OpenReader
) -> None:
    now = NOW
    reader = open_reader(robots=True, clock=lambda: now)
    server.put("/robots.txt", answer(b"no", ("Retry-After", "30"), status="503 Busy"))
    assert (await reader.fail("/good")).retry_at == NOW + timedelta(seconds=30)
    put_rules(server, "User-agent: *\nDisallow: /links")
    assert (await reader.fail("/good")).reason == "retry_later"
    now += timedelta(seconds=30)
    assert (await reader.read("/good")).body
    assert (await reader.fail("/links")).reason == "robots"
    assert len(server.seen("/robots.txt")) == 2


async def test_rules_that_never_come_are_waited_for_once(server: HostileServer, open_reader: OpenReader) -> None:
    server.routes["/robots.txt"] = server.routes["/slow/body"]
    reader = open_reader(robots=True, **HURRIED)
    for _ in range(3):
        assert (await reader.fail("/good")).reason == "timeout"
    assert len(server.seen("/robots.txt")) == 1


async def test_a_server_that_is_down_is_unreachable(open_reader: OpenReader) -> None:
    error = await open_reader("http://127.0.0.1:1", robots=True).fail("http://127.0.0.1:1/")
    assert error.reason == "unreachable"


async def test_rules_count_as_far_as_they_are_read(server: HostileServer, open_reader: OpenReader) -> None:
    put_rules(server, "User-agent: *\nDisallow: /links\n" + "# comment\n" * 100_000 + "Disallow: /good\n")
    reader = open_reader(robots=True)
    assert (await reader.read("/good")).body
    assert (await reader.fail("/links")).reason == "robots"


@pytest.mark.parametrize("target", ["http://example.com/robots.txt", "/robots.txt"])
async def test_rules_that_are_somewhere_else_are_no_rules(
    server: HostileServer, open_reader: OpenReader, target: str
) -> None:
    server.put("/robots.txt", redirect(target))
    assert (await open_reader(robots=True).read("/good")).body


async def test_rules_that_redirect_inside_the_origin_are_followed(
    server: HostileServer, open_reader: OpenReader
) -> None:
    server.put("/robots.txt", redirect("/rules"))
    server.put("/rules", answer(b"User-agent: OriaKnowledge\nDisallow: /good", kind="text/plain"))
    assert (await open_reader(robots=True).fail("/good")).reason == "robots"


async def test_rules_that_redirect_to_an_address_inside_are_not_followed(
    server: HostileServer, open_reader: OpenReader
) -> None:
    server.put("/robots.txt", redirect("http://169.254.169.254/robots.txt"))
    assert (await open_reader(robots=True).fail("/good")).reason == "address"


async def test_a_crawl_delay_is_obeyed_within_bounds(server: HostileServer, open_reader: OpenReader) -> None:
    put_rules(server, "User-agent: *\nCrawl-delay: 3600")
    reader = open_reader(robots=True, most_delay_seconds=0.15)
    await reader.read("/good")
    began = time.monotonic()
    await reader.read("/good")
    assert 0.1 <= time.monotonic() - began < 5
