"""Text out of real files, in the process that reads them (CASES 74)."""

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from local.sample_tenant.load import DOCUMENTS
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.extraction import Extracted, extract
from oria_runtime.documents.formats import Claims
from oria_runtime.documents.limits import ExtractionLimits
from tests.support.documents import SCAN, make_bomb_pdf, make_docx, make_pdf


async def refuse(data: bytes, name: str, **limits: int) -> ExtractionError:
    """The error of a document that is not taken."""
    with pytest.raises(ExtractionError) as caught:
        await extract(data, Claims(name), replace(ExtractionLimits(), **limits))
    return caught.value


@pytest.mark.parametrize(
    ("name", "pages", "title", "words"),
    [
        ("amira-haddad-cv.pdf", 1, "Curriculum vitae of Amira Haddad", "women who want to enter technical jobs"),
        ("amira-haddad-cv.docx", None, "Curriculum vitae of Amira Haddad", "women who want to enter technical jobs"),
        ("amira-haddad-review-2026.txt", None, None, "Amira Haddad"),
        ("data-scientist-volume-forecasting.md", None, "Data scientist, volume forecasting", "Northwind Logistics"),
    ],
)
async def test_sample_documents_give_their_text(name: str, pages: int | None, title: str | None, words: str) -> None:
    found = await extract((DOCUMENTS / name).read_bytes(), Claims(name))
    assert (found.pages, found.title, list(found.warnings)) == (pages, title, [])
    assert words in " ".join(found.text.split())


async def test_a_scanned_pdf_is_reported_as_having_no_text() -> None:
    error = await refuse((DOCUMENTS / "power-bi-certificate-scan.pdf").read_bytes(), "scan.pdf")
    assert (error.reason, error.status) == ("no_text", 422)
    assert "scan" in error.detail


async def test_a_half_scanned_pdf_keeps_its_text_and_warns_of_the_rest() -> None:
    found = await extract(make_pdf(["First page", SCAN, "Third page", SCAN, ""]), Claims("half.pdf"))
    assert found == Extracted(
        "application/pdf",
        "First page\n\nThird page",
        pages=5,
        warnings=[{"code": "pages_without_text", "pages": [2, 4]}],
    )


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
async def test_only_a_password_that_opens_keeps_a_pdf_closed(algorithm: str) -> None:
    error = await refuse(make_pdf(["Secret"], password="open sesame", algorithm=algorithm), "secret.pdf")
    assert (error.reason, error.status) == ("encrypted", 422)
    restricted = make_pdf(["Do not print"], password="", algorithm=algorithm)
    assert (await extract(restricted, Claims("restricted.pdf"))).text == "Do not print"


async def test_a_word_document_gives_paragraphs_and_cells_in_order() -> None:
    table = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    found = await extract(make_docx(["Élodie", "R&amp;D"], body=table), Claims("a.docx"))
    assert found.text.split() == ["Élodie", "R&D", "Cell"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9\r\nbar\rend", "café\nbar\nend"),
        ("\ufeffžluťoučký".encode("utf-16-le"), "žluťoučký"),
        ("\ufeffkůň".encode("utf-32-le"), "kůň"),
        (("Les compétences développées à l'étranger sont très appréciées. " * 5).encode("cp1252"), "développées à"),
        (b"a\x00b plain text" + b" that goes on for long enough" * 5, "ab plain text"),
    ],
)
async def test_text_is_read_in_its_encoding(data: bytes, text: str) -> None:
    assert text in (await extract(data, Claims("a.txt"))).text


@pytest.mark.parametrize(
    ("data", "name", "reason", "status"),
    [
        (b"", "a.txt", "empty", 422),
        (b" \n\t ", "a.md", "no_text", 422),
        (make_docx([]), "a.docx", "no_text", 422),
        (make_docx(["Hello"])[:-60], "a.docx", "broken", 422),
        (b"PK\x03\x04word/document.xml", "a.docx", "broken", 422),
        (b"%PDF-1.7 and nothing of one", "a.pdf", "broken", 422),
        (make_pdf(["Hello"])[:90], "a.pdf", "broken", 422),
        (bytes(range(1, 30)) * 20, "a.txt", "not_text", 415),
        (b"\xff\xfe\x00", "a.txt", "not_text", 415),
        (os.urandom(4_000), "a.md", "not_text", 415),
    ],
)
async def test_a_file_without_readable_text_says_why(data: bytes, name: str, reason: str, status: int) -> None:
    error = await refuse(data, name)
    assert (error.reason, error.status) == (reason, status)


@pytest.mark.parametrize(
    ("data", "name", "limits", "reason"),
    [
        (b"hello", "a.txt", {"bytes": 4}, "too_large"),
        (make_pdf(["a", "b", "c"]), "a.pdf", {"pages": 2}, "too_many_pages"),
        (b"hello", "a.txt", {"characters": 4}, "too_many_characters"),
        (make_pdf(["hello", "world"]), "a.pdf", {"characters": 8}, "too_many_characters"),
        (make_docx(["a"], parts={"word/x.xml": b"0" * 10_000_000}), "a.docx", {"expanded": 1_000_000}, "too_complex"),
        (make_bomb_pdf(200), "a.pdf", {}, "too_complex"),
    ],
)
async def test_every_bound_is_kept_and_named(data: bytes, name: str, limits: dict[str, int], reason: str) -> None:
    error = await refuse(data, name, **limits)
    assert (error.reason, error.status) == (reason, 413)


@pytest.mark.parametrize("information", [b"<< /Title 5 >>", b"<< /Title [(A) (B)] >>", b"7"])
async def test_information_that_is_none_costs_a_pdf_its_title_only(information: bytes) -> None:
    pdf = make_pdf(["Hello"]).replace(b"/Root 1 0 R", b"/Root 1 0 R /Info " + information)
    found = await extract(pdf, Claims("a.pdf"))
    assert (found.text, found.title) == ("Hello", None)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n# Head of it ##\nRest", "Head of it"),
        ("## C\n# D", "C"),
        ("#\n\nNo heading", None),
        ("# a" + " " * 100_000 + "b", "a b"),
    ],
)
async def test_the_first_heading_is_the_title_however_long_its_line(text: str, title: str | None) -> None:
    found = await extract(text.encode(), Claims("a.md"), replace(ExtractionLimits(), seconds=5))
    assert found.title == title


async def test_a_document_that_takes_too_long_is_killed() -> None:
    endless = make_docx([], body="<w:p/>" * 300_000)
    began = time.monotonic()
    error = await refuse(endless, "a.docx", seconds=1)
    assert error.reason == "too_complex"
    assert time.monotonic() - began < 2.5


async def test_entities_do_not_expand_without_end() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]><w:document xmlns:w="x">&e9;</w:document>'
    document = make_docx(["a"], parts={"docProps/core.xml": bomb.encode()})
    assert (await refuse(document, "a.docx")).reason in {"broken", "too_complex"}


async def test_the_reader_is_gone_when_its_request_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    reading = asyncio.create_task(extract(make_docx([], body="<w:p/>" * 300_000), Claims("a.docx")))
    worker = None
    for _ in range(200):
        await asyncio.sleep(0.01)
        if worker := find_worker():
            break
    assert worker is not None
    assert b"secret" not in (worker / "environ").read_bytes()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not worker.exists()


def find_worker() -> Path | None:
    """The process folder of our own reader, once it is more than a fork of us."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    folders = (Path("/proc") / child for child in children)
    return next((path for path in folders if b"documents.worker" in (path / "cmdline").read_bytes()), None)
