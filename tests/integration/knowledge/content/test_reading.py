"""Documents of every kind, as their bytes come, in this process or the one that can be killed (CASES 74, 76)."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.chunking import split
from oria_runtime.knowledge.content.content import Content, Section
from oria_runtime.knowledge.content.language import detect_language
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.reading import read_content
from tests.support.documents import SCAN, make_docx, make_pdf

HANDBOOK = Path(__file__).parents[5] / "shared" / "data" / "handbook" / "pages"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


async def read(body: bytes, media_type: str, name: str = "leave", charset: str | None = None) -> Content:
    return await read_content(body, media_type, charset, f"https://example.org/{name}")


async def refuse(body: bytes, media_type: str, name: str = "leave", **limits: int) -> str:
    """Why a document is not taken."""
    with pytest.raises(ExtractionError) as caught:
        await read_content(body, media_type, None, f"https://example.org/{name}", replace(ContentLimits(), **limits))
    return caught.value.reason


async def test_a_half_scanned_pdf_has_its_pages_and_warns_of_the_rest() -> None:
    content = await read(make_pdf(["First page", SCAN, "Third page"]), "application/pdf")
    assert content.sections == (
        Section(("Page 1",), "page=1", "First page"),
        Section(("Page 3",), "page=3", "Third page"),
    )
    assert content.warnings == ({"code": "pages_without_text", "pages": [2]},)


async def test_a_word_document_keeps_headings_lists_and_links_nowhere() -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Leave</w:t></w:r></w:p>'
    body = heading + "<w:p><w:r><w:t>Twenty-six days.</w:t></w:r></w:p>"
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
        "</Relationships>"
    )
    parts = {"word/styles.xml": styles.encode(), "word/_rels/document.xml.rels": relations.encode()}
    content = await read(make_docx(["Lead"], body=body, parts=parts), DOCX)
    assert content.sections == (Section((), None, "Lead"), Section(("Leave",), None, "Twenty-six days."))
    assert content.title == "Leave"


@pytest.mark.parametrize(
    ("body", "media_type", "name", "limits", "reason"),
    [
        (b"", "text/html", "a", {}, "empty"),
        (b"<p>x", "text/html", "a", {"bytes": 3}, "too_large"),
        (make_pdf([SCAN]), "application/pdf", "a", {}, "no_text"),
        (make_pdf(["Secret"], password="open sesame"), "application/pdf", "a", {}, "encrypted"),
        (make_pdf(["a", "b"]), "application/pdf", "a", {"pages": 1}, "too_many_pages"),
        (make_docx(["Hello"])[:-60], DOCX, "a", {}, "broken"),
        (b"<p>not one", "application/pdf", "a.pdf", {}, "type_mismatch"),
        (b"GIF89a", "image/gif", "a.gif", {}, "unsupported"),
        (b" \n ", "text/plain", "a", {}, "no_text"),
    ],
)
async def test_what_cannot_be_read_says_why(
    body: bytes, media_type: str, name: str, limits: dict[str, int], reason: str
) -> None:
    assert await refuse(body, media_type, name, **limits) == reason


@pytest.mark.parametrize(
    "html", ["<div>" * 1_000_000, "<p>" + "".join(f"<b a={n}>" for n in range(6_000)) + "<p>x" * 6_000]
)
async def test_a_page_made_to_hang_or_to_fill_memory_is_ended(html: str) -> None:
    began = time.monotonic()
    assert await refuse(html.encode(), "text/html", seconds=1, memory=300_000_000) == "too_complex"
    assert time.monotonic() - began < 5


async def test_a_large_page_is_read_apart_with_the_same_result() -> None:
    section = "<h2 id=s{0}>Section {0}</h2><p>Text {0} with <a href=/p{0}>a link</a> and words. </p>"
    small, large = (f"<main>{''.join(section.format(n) for n in range(count))}</main>" for count in (10, 3_000))
    few, many = await read(small.encode(), "text/html"), await read(large.encode(), "text/html")
    assert many.sections[:10] == few.sections
    assert many.links[:10] == few.links
    assert (len(many.sections), len(many.links)) == (3_000, 1_000)


@pytest.mark.parametrize(
    ("body", "media_type", "name"),
    [
        ("<p>congé".encode(), "text/html; charset=utf-8", "a.pdf"),
        ("<!DOCTYPE html><p>congé".encode(), "application/octet-stream", "a"),
        ("<p>congé".encode(), "", "a.html"),
        ("congé".encode(), "binary/octet-stream", "a.txt"),
        ("congé".encode(), "text/plain", "a.md"),
        ("congé".encode(), "text/markdown", "download.php"),
    ],
)
async def test_the_kind_is_what_type_name_and_beginning_say(body: bytes, media_type: str, name: str) -> None:
    assert (await read(body, media_type, name)).sections[0].text == "congé"


async def test_a_page_without_a_declared_charset_is_no_mojibake() -> None:
    words = "<p>Les congés payés sont demandés à l'avance, même pendant l'été ; la durée dépend de l'ancienneté."
    page = f"<meta charset=utf-8>{words}".encode("cp1252")
    assert "congés payés" in (await read(page, "text/html")).sections[0].text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You may use annual leave for any reason you like.", "en"),
        ("Vous pouvez prendre des congés annuels pour toute raison.", "fr"),
        ("Puede usar las vacaciones anuales por cualquier motivo.", "es"),
        ("42", None),
    ],
)
def test_the_language_of_a_text_is_told(text: str, language: str | None) -> None:
    assert detect_language(text) == language


async def test_every_page_of_the_handbook_is_read_or_has_no_text() -> None:
    if not HANDBOOK.is_dir():
        pytest.skip(f"the handbook is not there: {HANDBOOK.name} of shared/data/handbook")
    without_text = []
    for path in sorted(HANDBOOK.rglob("*.md")):
        try:
            content = await read(path.read_bytes(), "text/markdown", path.relative_to(HANDBOOK).as_posix())
        except ExtractionError as error:
            without_text.append((path, error.reason))
            continue
        assert content.title
        assert split(content)
    # Those that only redirect.
    assert {reason for _, reason in without_text} <= {"no_text"}
    assert all("redirect_to:" in path.read_text() for path, _ in without_text)
