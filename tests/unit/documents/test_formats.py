"""Which kind of document some bytes are taken for."""

import pytest

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.formats import DOCX, MARKDOWN, PDF, TEXT, Claims, find_format

ZIP = b"PK\x03\x04 word/document.xml"
OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(
    ("data", "claims", "found"),
    [
        (b"%PDF-1.7", Claims("cv.pdf", "application/pdf"), PDF),
        (b"\n\n%PDF-1.4", Claims("CV.PDF"), PDF),
        (b"%PDF-1.7", Claims("cv", "application/pdf"), PDF),
        (ZIP, Claims("cv.docx", "application/octet-stream"), DOCX),
        (b"# Hello", Claims("notes.md", "text/plain"), MARKDOWN),
        (b"# Hello", Claims("notes", "text/markdown; charset=utf-8"), MARKDOWN),
        (b"Every PDF begins with %PDF-", Claims("about.txt", "text/plain; charset=iso-8859-1"), TEXT),
    ],
)
def test_name_type_and_content_agree(data: bytes, claims: Claims, found: str) -> None:
    assert find_format(data, claims) == found


@pytest.mark.parametrize(
    ("data", "claims", "reason"),
    [
        (b"%PDF-1.7", Claims("cv.docx"), "type_mismatch"),
        (ZIP, Claims("cv.pdf"), "type_mismatch"),
        (b"%PDF-1.7", Claims("notes.txt"), "type_mismatch"),
        (ZIP, Claims("notes.md"), "type_mismatch"),
        (b"hello", Claims("cv.pdf"), "type_mismatch"),
        (b"PK\x03\x04 xl/workbook.xml", Claims("cv.docx"), "type_mismatch"),
        (b"%PDF-1.7", Claims("cv.pdf", "text/plain"), "type_mismatch"),
        (OLE + b"..", Claims("cv.docx"), "type_mismatch"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), Claims("cv.docx"), "encrypted"),
        (OLE, Claims("cv.doc"), "unsupported"),
        (b"hello", Claims("notes"), "unsupported"),
        (b"hello", Claims("notes.txt", "text/html"), "unsupported"),
        (b"\x89PNG", Claims("photo.png", "image/png"), "unsupported"),
        (b"%PDF-1.7", Claims("cv.pdf.exe", "application/pdf"), "unsupported"),
    ],
)
def test_a_lie_is_told_by_its_reason(data: bytes, claims: Claims, reason: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        find_format(data, claims)
    assert caught.value.reason == reason
    assert caught.value.status == (422 if reason == "encrypted" else 415)
