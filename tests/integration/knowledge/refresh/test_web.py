"""Refreshing pages that link to each other."""

import pytest

from tests.support.documents import make_pdf
from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import Page, render, write_page

LEAVE = "Every employee has thirty days of paid leave in a year, and may carry five of them over."
TRAVEL = "Trips are booked through the travel desk, at least two weeks before they begin."
SICKNESS = "Call your manager before nine on the first day of an illness."
GRACE = """
update knowledge_documents set missing_since = missing_since - interval '3 days 1 minute'
where missing_since is not null
"""


def open_handbook(world: World) -> None:
    links = {"Leave": "/leave", "Travel": "/travel"}
    world.site.put("/", write_page("Handbook", "Everything about working here.", links=links))
    world.site.put("/leave", write_page("Leave", LEAVE))
    world.site.put("/travel", write_page("Travel", TRAVEL, links={"Home": "/"}))


async def test_a_first_refresh_indexes_every_linked_page_once(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    assert await world.statuses(source) == {"/": "indexed", "/leave": "indexed", "/travel": "indexed"}
    assert world.site.asked() == {"/": 1, "/leave": 1, "/travel": 1}
    assert any(LEAVE in text for text in await world.chunks(source, "/leave"))
    counts = await world.counts(source)
    assert counts["new"] == 3
    assert counts["embedded"] == counts["chunks"] == len((await world.dump(source))["vectors"])


async def test_an_unchanged_source_costs_one_request_a_document_and_no_embedding(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.forget()
    assert await world.refresh(source) == "completed"
    assert await world.dump(source) == before
    assert world.site.asked() == {"/": 1, "/leave": 1, "/travel": 1}
    assert world.embedded() == []
    assert await world.counts(source) == {"unchanged": 3}


async def test_validators_are_sent_back_as_the_server_wrote_them(world: World) -> None:
    since = "Mon, 30 Nov 2026 09:00:00 UTC+0"
    world.site.put("/", write_page("Handbook", LEAVE), etag='W/"a,b c"', last_modified=since)
    source = await world.add_source()
    await world.refresh(source)
    world.forget()
    await world.refresh(source)
    (request,) = world.site.requests
    assert (request.headers["if-none-match"], request.headers["if-modified-since"]) == ('W/"a,b c"', since)
    assert await world.counts(source) == {"unchanged": 1}


async def test_equal_bytes_are_unchanged_though_the_server_ignores_its_own_validators(world: World) -> None:
    world.site.put("/", write_page("Handbook", LEAVE), etag=None)
    source = await world.add_source()
    await world.refresh(source)
    world.forget()
    await world.refresh(source)
    assert await world.counts(source) == {"unchanged": 1}
    assert world.embedded() == []


async def test_a_changed_page_has_its_changed_chunks_embedded_and_loses_those_that_are_gone(world: World) -> None:
    paragraphs = [f"Rule number {number} says what to do in case {number} of many. " * 6 for number in range(8)]
    sections = "".join(f"<h2>Part {number}</h2><p>{text}</p>" for number, text in enumerate(paragraphs))
    world.site.put("/", f"<h1>Rules</h1>{sections}")
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.forget()
    world.site.put("/", f"<h1>Rules</h1>{sections.replace('case 3', 'event 3')}".partition("<h2>Part 7")[0])
    assert await world.refresh(source) == "completed"
    after = await world.dump(source)
    kept = {row["id"] for row in before["chunks"]} & {row["id"] for row in after["chunks"]}
    assert len(after["chunks"]) == len(before["chunks"]) - 1
    assert len(kept) == len(after["chunks"]) - 1
    (embedded,) = world.embedded()
    assert "event 3" in embedded
    assert len(after["vectors"]) == len(after["chunks"])
    counts = await world.counts(source)
    assert (counts["changed"], counts["embedded"]) == (1, 1)


async def test_another_title_is_embedded_with_every_chunk(world: World) -> None:
    world.site.put("/", render(f"<h2>Days</h2><p>{LEAVE}</p>", title="Leave"))
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.forget()
    world.site.put("/", render(f"<h2>Days</h2><p>{LEAVE}</p>", title="Holidays"))
    await world.refresh(source)
    after = await world.dump(source)
    assert [row["id"] for row in after["chunks"]] == [row["id"] for row in before["chunks"]]
    assert len(world.embedded()) == len(after["chunks"])
    assert [row["embedding"] for row in after["vectors"]] != [row["embedding"] for row in before["vectors"]]


async def test_a_crawl_stays_within_its_depth_scope_and_number(world: World) -> None:
    world.site.put(
        "/docs/",
        write_page(
            "Docs",
            LEAVE,
            links={"One": "/docs/1", "Else": "/other", "Two": "/docs/2", "Out": "https://elsewhere.example/docs/"},
        ),
    )
    world.site.put("/docs/1", write_page("One", TRAVEL, links={"Deeper": "/docs/deeper"}))
    world.site.put("/docs/2", write_page("Two", SICKNESS))
    world.site.put("/docs/deeper", write_page("Deeper", "Nobody comes here."))
    shallow = await world.add_source("/docs/", depth=1, prefixes=("/docs/",))
    await world.refresh(shallow)
    assert set(await world.documents(shallow)) == {"/docs/", "/docs/1", "/docs/2"}
    few = await world.add_source("/docs/", most=2, prefixes=("/docs/",), name="Few")
    await world.refresh(few)
    assert set(await world.documents(few)) == {"/docs/", "/docs/1"}


async def test_links_of_unchanged_pages_carry_the_crawl_on(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    world.site.put("/leave", write_page("Leave", LEAVE, SICKNESS))
    await world.refresh(source)
    assert await world.counts(source) | {"chunks": 0, "embedded": 0} == {
        "unchanged": 2, "changed": 1, "chunks": 0, "embedded": 0,
    }  # fmt: skip


async def test_spellings_of_a_location_are_one_document_and_a_redirects_target_is_fetched_once(world: World) -> None:
    links = {"A": "/leave", "B": "/leave/", "C": "/LEAVE/../leave/#days", "D": "/old"}
    world.site.put("/", write_page("Handbook", "Start here.", links=links))
    world.site.redirect("/leave", "/leave/")
    world.site.redirect("/old", "/leave")
    world.site.put("/leave/", write_page("Leave", LEAVE))
    source = await world.add_source()
    for _ in range(2):
        world.site.requests.clear()
        await world.refresh(source)
        assert set(await world.documents(source)) == {"/", "/leave/"}
        assert world.site.asked()["/leave/"] == 1
    aliases = (await world.dump(source))["aliases"]
    assert {(row["location"], row["document"]) for row in aliases} == {
        (world.site.location(path), world.site.location("/leave/")) for path in ("/leave", "/old")
    }


async def test_a_canonical_link_names_the_document_unless_the_page_there_is_another(world: World) -> None:
    canonical = '<link rel="canonical" href="/leave">'
    world.site.put("/", write_page("Handbook", "Start here.", links={"Print": "/leave?print=1", "Other": "/other"}))
    world.site.put("/leave?print=1", write_page("Leave", LEAVE, head=canonical))
    world.site.put("/leave", write_page("Leave", LEAVE, head=canonical))
    # A template that names the home page everywhere.
    world.site.put("/other", write_page("Other", TRAVEL, head='<link rel="canonical" href="/">'))
    source = await world.add_source()
    await world.refresh(source)
    assert set(await world.documents(source)) == {"/", "/leave", "/other"}
    assert world.site.asked()["/leave"] == 0


async def test_a_canonical_link_to_a_redirect_that_was_visited_names_the_document_behind_it(world: World) -> None:
    world.site.put("/", write_page("Handbook", "Start here.", links={"Leave": "/leave", "Print": "/leave?print=1"}))
    world.site.redirect("/leave", "/leave/")
    world.site.put("/leave/", write_page("Leave", LEAVE))
    world.site.put("/leave?print=1", write_page("Leave", LEAVE, head='<link rel="canonical" href="/leave">'))
    source = await world.add_source()
    for _ in range(2):
        await world.refresh(source)
        assert set(await world.documents(source)) == {"/", "/leave/"}


async def test_a_page_that_was_not_asked_for_has_not_used_up_its_waits(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    world.site.fail("/leave", 429, retry_after="120")
    assert await world.refresh(source) == "continued"
    rows = await world.query("select location, waits from knowledge_visits where not done")
    assert {row["location"].removeprefix(world.site.url): row["waits"] for row in rows} == {"/leave": 1, "/travel": 0}


async def test_a_page_that_moves_leaves_no_second_document(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    world.site.redirect("/leave", "/absence")
    world.site.put("/absence", write_page("Leave", LEAVE))
    await world.refresh(source)
    assert set(await world.documents(source)) == {"/", "/absence", "/travel"}


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_is_gone_keeps_its_passages_for_its_grace_and_heals(world: World, status: int) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    whole = await world.dump(source)
    world.site.fail("/leave", status)
    await world.refresh(source)
    assert (await world.documents(source))["/leave"]["missing_since"] is not None
    assert await world.chunks(source, "/leave")
    world.site.put("/leave", write_page("Leave", LEAVE))
    await world.refresh(source)
    assert (await world.documents(source))["/leave"]["missing_since"] is None
    assert await world.dump(source) == whole

    world.site.fail("/leave", status)
    await world.refresh(source)
    await world.query(GRACE)
    await world.refresh(source)
    assert (await world.statuses(source))["/leave"] == "gone"
    assert await world.chunks(source, "/leave") == []
    assert (await world.counts(source))["gone"] == 1
    world.site.put("/leave", write_page("Leave", LEAVE))
    await world.refresh(source)
    assert await world.dump(source) == whole


async def test_a_page_that_nothing_links_to_any_more_has_the_same_grace(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    world.site.put("/", write_page("Handbook", "Everything about working here.", links={"Leave": "/leave"}))
    await world.refresh(source)
    row = (await world.documents(source))["/travel"]
    assert (row["status"], row["reason"]) == ("indexed", "unlisted")
    await world.query(GRACE)
    await world.refresh(source)
    assert (await world.statuses(source))["/travel"] == "gone"
    assert await world.chunks(source, "/travel") == []


async def test_a_page_that_cannot_be_had_keeps_its_old_version_and_says_why(world: World) -> None:
    open_handbook(world)
    world.site.put("/", write_page("Handbook", "Start.", links={"L": "/leave", "T": "/travel", "S": "/secret"}))
    world.site.put("/travel", write_page("Travel", TRAVEL, links={"Sickness": "/sickness"}))
    world.site.put("/sickness", write_page("Sickness", SICKNESS))
    world.site.put("/secret", write_page("Secret", "Not for everybody."))
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.site.drop("/leave")
    world.site.fail("/travel", 500)
    world.site.fail("/secret", 403)
    await world.refresh(source)
    documents = await world.documents(source)
    assert {path: (row["status"], row["reason"]) for path, row in documents.items() if row["status"] != "indexed"} == {
        "/leave": ("unreachable", "unreachable"),
        "/travel": ("unreachable", "status_500"),
        "/secret": ("refused", "status_403"),
    }
    # What only the unreachable page links to is no more missing than that page.
    assert documents["/sickness"]["missing_since"] is None
    after = await world.dump(source)
    assert (after["chunks"], after["vectors"]) == (before["chunks"], before["vectors"])
    counts = await world.counts(source)
    assert (counts["unreachable"], counts["refused"]) == (2, 1)


async def test_robots_rules_are_obeyed_and_named(world: World) -> None:
    open_handbook(world)
    world.site.put("/robots.txt", b"User-agent: *\nDisallow: /leave\n", media_type="text/plain", etag=None)
    source = await world.add_source()
    await world.refresh(source)
    row = (await world.documents(source))["/leave"]
    assert (row["status"], row["reason"]) == ("refused", "robots")
    assert world.site.asked()["/leave"] == 0


@pytest.mark.parametrize(("status", "reason"), [(404, "gone"), (500, "status_500"), (403, "status_403")])
async def test_a_source_whose_entry_cannot_be_had_fails_and_loses_nothing(
    world: World, status: int, reason: str
) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    before = await world.dump(source)
    world.site.fail("/", status)
    assert await world.refresh(source) == "failed"
    last = await world.last(source)
    assert (last["status"], last["error"]["reason"]) == ("failed", reason)
    after = await world.dump(source)
    assert (after["chunks"], after["vectors"]) == (before["chunks"], before["vectors"])
    assert all(row["missing_since"] is None for row in (await world.documents(source)).values())
    (row,) = await world.query(
        "select next_refresh_at > now() + interval '20 hours' as later, lease from knowledge_sources"
    )
    assert (row["later"], row["lease"]) == (True, None)


async def test_a_page_without_text_is_reported_and_its_old_version_stays(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    world.site.put("/leave", "<div id=app></div>")
    await world.refresh(source)
    row = (await world.documents(source))["/leave"]
    assert (row["status"], row["reason"]) == ("empty", "no_text")
    assert await world.chunks(source, "/leave")
    assert (await world.counts(source))["empty"] == 1
    world.site.put("/leave", write_page("Leave", LEAVE))
    world.forget()
    await world.refresh(source)
    assert (await world.statuses(source))["/leave"] == "indexed"
    assert world.embedded() == []


async def test_a_page_that_asks_not_to_be_indexed_is_followed_but_not_kept(world: World) -> None:
    noindex = '<meta name="robots" content="noindex">'
    world.site.put("/", write_page("List", "Every page of ours.", links={"Leave": "/leave"}, head=noindex))
    world.site.put("/leave", write_page("Leave", LEAVE))
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    assert await world.statuses(source) == {"/": "empty", "/leave": "indexed"}
    world.site.put("/leave", write_page("Leave", LEAVE, head=noindex))
    await world.refresh(source)
    assert await world.chunks(source, "/leave") == []


async def test_a_host_that_asks_for_time_gets_it_by_a_later_message(world: World) -> None:
    open_handbook(world)
    source = await world.add_source()
    await world.refresh(source)
    world.site.fail("/leave", 429, retry_after="120")
    assert await world.refresh(source) == "continued"
    (row,) = await world.query(
        "select lease, queued_until - now() as held, next_refresh_at <= now() as due from knowledge_sources"
    )
    assert row["lease"] is None
    assert row["due"]
    assert await world.go_on(source) == "continued"
    assert world.site.asked()["/travel"] == 1
    open_handbook(world)
    await world.query("update knowledge_visits set not_before = now()")
    assert await world.go_on(source) == "completed"
    assert await world.counts(source) == {"unchanged": 3}


async def test_a_short_wait_is_waited_for(world: World) -> None:
    open_handbook(world)
    world.site.next["/leave"] = Page(b"", status=503, etag=None, headers={"retry-after": "1"})
    source = await world.add_source()
    assert await world.refresh(source) == "completed"
    assert (await world.statuses(source))["/leave"] == "indexed"
    assert world.site.asked() == {"/": 1, "/leave": 2, "/travel": 1}


async def test_a_host_that_asks_for_time_again_and_again_counts_as_unreachable(world: World) -> None:
    open_handbook(world)
    world.site.fail("/leave", 503, retry_after="600")
    source = await world.add_source()
    assert await world.refresh(source) == "continued"
    await world.query("update knowledge_visits set not_before = now(), waits = 5 where location like '%%/leave'")
    assert await world.go_on(source) == "continued", "the others of the host wait"
    row = (await world.documents(source))["/leave"]
    assert (row["status"], row["reason"]) == ("unreachable", "retry_later")


async def test_of_a_page_that_shrinks_every_chunk_that_is_gone_is_removed_in_the_same_refresh(world: World) -> None:
    parts = [f"<h2>Part {number}</h2><p>{'Paragraph of part. ' * 30}Number {number}.</p>" for number in range(130)]
    world.site.put("/", f"<h1>Rules</h1>{''.join(parts)}")
    source = await world.add_source()
    await world.refresh(source)
    assert len((await world.dump(source))["chunks"]) > 100
    world.site.put("/", f"<h1>Rules</h1>{parts[0]}")
    await world.refresh(source)
    dump = await world.dump(source)
    assert len(dump["chunks"]) == len(dump["vectors"]) <= 2


async def test_a_scan_is_reported_as_without_text_and_the_version_before_it_stays(world: World) -> None:
    world.site.put("/", write_page("Index", "All files.", links={"Leave": "/leave.pdf"}))
    world.site.put("/leave.pdf", make_pdf([LEAVE]), media_type="application/pdf")
    source = await world.add_source()
    await world.refresh(source)
    before = await world.chunks(source, "/leave.pdf")
    assert LEAVE in before[0]
    world.site.put("/leave.pdf", make_pdf([None]), media_type="application/pdf")
    await world.refresh(source)
    row = (await world.documents(source))["/leave.pdf"]
    assert (row["status"], row["reason"]) == ("empty", "no_text")
    assert await world.chunks(source, "/leave.pdf") == before
    world.site.put("/leave.pdf", make_pdf([None, SICKNESS]), media_type="application/pdf")
    await world.refresh(source)
    row = (await world.documents(source))["/leave.pdf"]
    assert (row["status"], row["warnings"]) == ("indexed", [{"code": "pages_without_text", "pages": [1]}])
