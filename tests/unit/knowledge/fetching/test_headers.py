"""What headers mean: Retry-After, Content-Type, entity tags, robots.txt."""

from datetime import UTC, datetime

import pytest
from protego import Protego

from oria_runtime.documents.formats import DOCX, MARKDOWN, PDF, TEXT
from oria_runtime.knowledge.fetching.conditional import ask_conditionally, is_same
from oria_runtime.knowledge.fetching.media import HTML, find_media_type, read_content_type
from oria_runtime.knowledge.fetching.policy import Validators
from oria_runtime.knowledge.fetching.politeness import read_retry_after
from oria_runtime.knowledge.fetching.robots import select_rules
from tests.support.documents import make_docx, make_pdf

NOW = datetime(2025, 11, 29, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sat, 29 Nov 2025 08:01:00 GMT", 60.0),
        ("Sat, 29 Nov 2025 10:01:00 +0200", 60.0),
        ("Saturday, 29-Nov-25 08:01:00 GMT", 60.0),
        ("Sat, 29 Nov 2025 07:00:00 GMT", -3600.0),
        ("99999999999999999999", float("inf")),
    ],
)
def test_retry_after_is_read_as_seconds_and_as_a_date(header: str, seconds: float) -> None:
    assert read_retry_after(header, NOW) == seconds


@pytest.mark.parametrize(
    "header", ["", "soon", "-5", "1.5", "٣", "Sat, 99 Nov 2025 08:01:00 GMT", "1 Jan 2025 00:00:00 +" + "9" * 20]
)
def test_retry_after_that_is_neither_is_none(header: str) -> None:
    assert read_retry_after(header, NOW) is None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html", ("text/html", None)),
        ("Text/HTML; Charset=UTF-8", ("text/html", "UTF-8")),
        ('text/html;version=1; charset="utf-8"', ("text/html", "utf-8")),
        ("text/html; charset=", ("text/html", None)),
        ("", ("", None)),
    ],
)
def test_content_type_is_taken_apart(header: str, expected: tuple[str, str | None]) -> None:
    assert read_content_type(header) == expected


@pytest.mark.parametrize(
    ("declared", "location", "body", "expected"),
    [
        ("text/html", "https://x/a.pdf", b"", HTML),
        ("text/plain", "https://x/readme.md?raw=1", b"# Title", MARKDOWN),
        ("application/x-pdf", "https://x/a", b"", PDF),
        ("text/plain", "https://x/a.docx", make_docx(["a"]), DOCX),
        ("text/plain", "https://x/a", make_pdf(["a"]), PDF),
        ("text/plain", "https://x/a", b"<html> is a tag", TEXT),
        ("text/x-markdown", "https://x/a", b"", MARKDOWN),
        ("", "https://x/a", make_pdf(["a"]), PDF),
        ("application/octet-stream", "https://x/a", make_docx(["a"]), DOCX),
        ("binary/octet-stream", "https://x/a", b"\xef\xbb\xbf  <!DOCTYPE HTML><p>", HTML),
        ("binary/octet-stream", "https://x/notes.MD", b"# Notes", MARKDOWN),
        ("", "upload:/guide.md", b"<!-- for editors -->\n# Guide", MARKDOWN),
        ("binary/octet-stream", "https://x/readme.md", b"<h1 align=center>Guide</h1>\n\n## Leave", MARKDOWN),
        ("", "upload:/notes.md", make_pdf(["a"]), PDF),
        ("", "https://x/a", b"plain words", TEXT),
        ("", "https://x/a", b"\x7fELF\x00", "application/octet-stream"),
        ("application/octet-stream", "https://x/a", b"PK\x03\x04 a zip", "application/octet-stream"),
    ],
)
def test_the_media_type_is_declared_or_found(declared: str, location: str, body: bytes, expected: str) -> None:
    assert find_media_type(declared, location, body) == expected


@pytest.mark.parametrize(
    ("sent", "received", "same"),
    [
        ('"a"', '"a"', True),
        ('W/"a"', '"a"', True),
        ('"a"', 'W/"a"', True),
        ('"a"', '"b"', False),
        ('""', '""', True),
        ("a", "a", False),
        ('"a', '"a', False),
        (None, '"a"', False),
        ('"a"', None, False),
        (None, None, False),
    ],
)
def test_entity_tags_compare_weakly(sent: str | None, received: str | None, same: bool) -> None:
    assert is_same(sent, received) is same


def test_validators_are_sent_byte_for_byte() -> None:
    headers = ask_conditionally(Validators('W/"a\xe9  b"', "Sat, 29 nov 2025"))
    assert headers == [(b"If-None-Match", b'W/"a\xe9  b"'), (b"If-Modified-Since", b"Sat, 29 nov 2025")]


RULES = """
User-agent: other
User-agent: *          # everybody
Disallow: /private
Sitemap: https://x/sitemap.xml

User-agent: OriaKnowledge/2.0
user agent : third
Disallow: /oria
Crawl-delay: 3

User-Agent: third
Disallow: /
"""


def test_the_rules_that_concern_us_are_kept_and_no_others() -> None:
    rules = Protego.parse(select_rules(RULES, "OriaKnowledge"))
    assert not rules.can_fetch("https://x/oria/a", "OriaKnowledge")
    assert rules.can_fetch("https://x/private", "OriaKnowledge")
    assert rules.crawl_delay("OriaKnowledge") == 3.0
    assert "/\n" not in select_rules(RULES, "OriaKnowledge") + "\n"


def test_without_a_group_of_ours_the_one_for_everybody_counts() -> None:
    rules = Protego.parse(select_rules(RULES, "Nobody"))
    assert not rules.can_fetch("https://x/private/a", "Nobody")
    assert rules.can_fetch("https://x/oria", "Nobody")


def test_half_a_megabyte_of_names_and_rules_is_read_in_no_time() -> None:
    names = "\n".join(f"User-agent: a{number}" for number in range(10_000))
    rules = "\n".join(f"Disallow: /a{number}*b" for number in range(15_000))
    selected = select_rules(f"{names}\nUser-agent: *\n{rules}", "OriaKnowledge")
    assert selected.count("\n") < 5_000
    assert not Protego.parse(selected).can_fetch("https://x/a7/b", "OriaKnowledge")
