"""Reading sitemaps."""

import gzip

import pytest

from oria_runtime.knowledge.refresh.sitemaps import SitemapError, read_sitemap

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PLAIN = f"<urlset {NAMESPACE}><url><loc>https://h.example/a?x=1&amp;y=2</loc></url></urlset>"


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        b"\n  " + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        gzip.compress(PLAIN.encode()),
        b"https://h.example/a?x=1&y=2\r\n",
        f"<urlset>{PLAIN.partition('>')[2]}".encode(),
    ],
)
def test_pages_are_found_however_they_are_written(body: bytes) -> None:
    found = read_sitemap(body)
    assert (found.pages, found.sitemaps) == (["https://h.example/a?x=1&y=2"], [])


def test_locations_of_pictures_are_no_pages() -> None:
    image = '<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>https://h/p.png</image:loc></image:image>'
    body = PLAIN.replace("</url>", f"{image}</url>")
    assert read_sitemap(body.encode()).pages == ["https://h.example/a?x=1&y=2"]


def test_a_sitemap_of_sitemaps_lists_no_pages() -> None:
    body = f"<sitemapindex {NAMESPACE}><sitemap><loc>https://h/b.xml</loc></sitemap></sitemapindex>"
    found = read_sitemap(body.encode())
    assert (found.pages, found.sitemaps) == ([], ["https://h/b.xml"])


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (gzip.compress(b"<urlset>" + b" " * 60_000_000), "larger"),
        (gzip.compress(PLAIN.encode())[:-9], "cut off"),
        (b"\x1f\x8b no gzip", "damaged"),
        (b'<!DOCTYPE u [<!ENTITY a "aaaa">]><urlset>&a;</urlset>', "entities"),
        (b"<rss></rss>", "no sitemap"),
        (b"<urlset>", "well-formed"),
        (b"Not found", "neither"),
    ],
)
def test_what_is_no_sitemap_is_refused_with_a_reason(body: bytes, word: str) -> None:
    with pytest.raises(SitemapError, match=word):
        read_sitemap(body)
