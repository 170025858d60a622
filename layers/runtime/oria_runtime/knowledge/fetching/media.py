"""What kind of document a body is."""

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from oria_runtime.documents.formats import (
    BY_DECLARATION,
    BY_EXTENSION,
    DOCX,
    DOCX_FOLDER,
    MARKDOWN,
    PDF,
    PDF_HEADER,
    TEXT,
    TEXTUAL,
    UNDECLARED,
    ZIP_HEADER,
)

HTML: Final = "text/html"
XHTML: Final = "application/xhtml+xml"
# What a source may hold, and what its sitemaps come as.
DOCUMENT_TYPES: Final = (HTML, XHTML, PDF, DOCX, MARKDOWN, TEXT)
SITEMAP_TYPES: Final = ("application/xml", "text/xml", TEXT, "application/gzip", "application/x-gzip")
# What is in no list of anybody's: it reads as "unsupported".
UNKNOWN: Final = "application/octet-stream"

_BY_ENDING = {**BY_EXTENSION, ".html": HTML, ".htm": HTML, ".xhtml": XHTML, ".xml": "application/xml"}
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<h1", b"<div", b"<p>", b"<!--")
_SNIFFED = 1_024


def read_content_type(header: str) -> tuple[str, str | None]:
    """Media type, lower case ("" when there is none), and charset of a Content-Type header (RFC 9110, 8.3)."""
    kind, *parameters = header.split(";")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return kind.strip().lower(), value.strip().strip("\"'") or None
    return kind.strip().lower(), None


def find_media_type(declared: str, location: str, body: bytes) -> str:
    """The media type to treat a body as: what was declared, or, where that says nothing, what it looks like.

    Plain text is what servers declare that do not know the type: it may be Markdown by name, PDF or DOCX by content.
    """
    named = _BY_ENDING.get(PurePosixPath(unquote(urlsplit(location).path)).suffix.lower())
    kind, signature = BY_DECLARATION.get(declared, declared), _find_signature(body)
    if kind not in UNDECLARED:
        return kind if kind != TEXT else _read_text_as(named, signature)
    # Markdown and text may begin with a tag or a comment.
    if named in TEXTUAL and signature == HTML:
        return named
    return signature or named or (UNKNOWN if b"\x00" in body[:_SNIFFED] else TEXT)


def _read_text_as(named: str | None, signature: str | None) -> str:
    if signature in (PDF, DOCX):
        return signature
    return MARKDOWN if named == MARKDOWN else TEXT


def _find_signature(body: bytes) -> str | None:
    head = body[:_SNIFFED]
    if PDF_HEADER in head:
        return PDF
    if head.startswith(ZIP_HEADER):
        return DOCX if DOCX_FOLDER in body else UNKNOWN
    return HTML if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS) else None
