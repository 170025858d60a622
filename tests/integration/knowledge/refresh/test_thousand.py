"""A thousand documents: what a refresh of them costs when nothing, and when one in a hundred, has changed."""

import pytest

from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import Site, write_page

DOCUMENTS = 1_000
CHANGED = range(7, DOCUMENTS, 100)


def put_page(site: Site, number: int, *more: str) -> None:
    title = f"Procedure {number}"
    first = f"Procedure {number} begins with form {number * 7} and ends with the signature of office {number % 13}."
    second = f"It takes {number % 30 + 1} days, and nobody may shorten it."
    site.put(f"/p/{number}", write_page(title, first, second, *more))


@pytest.mark.slow
async def test_a_thousand_unchanged_documents_cost_a_request_each_and_no_embedding(world: World) -> None:
    site = world.site
    site.put("/sitemap.xml", write_sitemap(site), media_type="application/xml")
    for number in range(DOCUMENTS):
        put_page(site, number)
    source = await world.add_source("/sitemap.xml", kind="sitemap", depth=0)
    assert await world.refresh(source) == "completed"
    assert (await world.counts(source))["new"] == DOCUMENTS

    world.forget()
    assert await world.refresh(source) == "completed"
    assert await world.counts(source) == {"unchanged": DOCUMENTS}
    assert max(site.asked().values()) == 1
    assert len(site.requests) == DOCUMENTS + 1
    assert world.script.count(endpoint="embeddings") == 0

    world.forget()
    for number in CHANGED:
        put_page(site, number, f"Since this year, office {number} asks for a copy.")
    before = {row["id"] for row in (await world.dump(source))["chunks"]}
    assert await world.refresh(source) == "completed"
    after = {row["id"]: row["content"] for row in (await world.dump(source))["chunks"]}
    counts = await world.counts(source)
    assert (counts["changed"], counts["unchanged"]) == (len(CHANGED), DOCUMENTS - len(CHANGED))
    embedded = world.embedded()
    assert len(embedded) == len(after.keys() - before) == counts["embedded"]
    for chunk in after.keys() - before:
        assert any(after[chunk] in text for text in embedded)


def write_sitemap(site: Site) -> bytes:
    entries = "".join(f"<url><loc>{site.location(f'/p/{number}')}</loc></url>" for number in range(DOCUMENTS))
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
