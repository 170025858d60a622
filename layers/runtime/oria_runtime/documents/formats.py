"""Which kind of document some bytes are: what the name and the sender say must agree with what the bytes begin with."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from oria_runtime.documents.errors import ExtractionError

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"
SUPPORTED: Final = (PDF, DOCX, MARKDOWN, TEXT)

BY_EXTENSION: Final = {
    ".pdf": PDF,
    ".docx": DOCX,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": TEXT,
    ".text": TEXT,
}
BY_DECLARATION: Final = {kind: kind for kind in SUPPORTED} | {
    "text/x-markdown": MARKDOWN,
    "application/x-pdf": PDF,
}
# What clients send when they do not know.
UNDECLARED: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
# ISO 32000-1, annex H.3.4.1: readers accept the header within the first 1,024 bytes.
PDF_HEADER, PDF_HEADER_WITHIN = b"%PDF-", 1_024
ZIP_HEADER = b"PK\x03\x04"
DOCX_FOLDER = b"word/"
OLE_HEADER = bytes.fromhex("d0cf11e0a1b11ae1")
# Word encrypts by putting the package into an OLE file as this stream ([MS-OFFCRYPTO] 1.3.2).
OLE_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
TEXTUAL = frozenset({MARKDOWN, TEXT})
NAMES = {PDF: "a PDF", DOCX: "a Word document", MARKDOWN: "Markdown", TEXT: "text"}


@dataclass(frozen=True)
class Claims:
    """What is said about some bytes: the name they came under and the media type that was declared."""

    name: str
    media_type: str = ""


def find_format(data: bytes, claims: Claims) -> str:
    """The media type of a document, one of SUPPORTED.

    Raises ExtractionError: `unsupported` for a kind that is not read here, `type_mismatch` where name, declaration and
    content say different things, `encrypted` for a Word file with a password.
    """
    claimed = read_claims(claims)
    if claimed == DOCX and data.startswith(OLE_HEADER):
        raise explain_ole(data)
    if not fits(data, claimed):
        raise ExtractionError("type_mismatch", f"The content is not {NAMES[claimed]}, which its name or type says.")
    return claimed


def read_claims(claims: Claims) -> str:
    """What name and declaration agree on. A declared text may be any kind of text; the name says which."""
    declared_type = claims.media_type.partition(";")[0].strip().lower()
    named = BY_EXTENSION.get(PurePath(claims.name).suffix.lower())
    declared = BY_DECLARATION.get(declared_type)
    if declared is None and declared_type not in UNDECLARED:
        raise ExtractionError("unsupported", "This kind of file is not read here: PDF, DOCX, Markdown and text are.")
    if named is None and (declared is None or PurePath(claims.name).suffix):
        raise ExtractionError("unsupported", "The name's ending is not one of .pdf, .docx, .md and .txt.")
    if named and declared and named != declared and not {named, declared} <= TEXTUAL:
        raise ExtractionError("type_mismatch", f"The name says {NAMES[named]}, the content type {NAMES[declared]}.")
    return named or str(declared)


def fits(data: bytes, media_type: str) -> bool:
    """Whether the content can be of this type: it has the type's own beginning, or as text no other's."""
    if media_type == PDF:
        return PDF_HEADER in data[:PDF_HEADER_WITHIN]
    if media_type == DOCX:
        return data.startswith(ZIP_HEADER) and DOCX_FOLDER in data
    return not data.startswith((PDF_HEADER, ZIP_HEADER, OLE_HEADER))


def explain_ole(data: bytes) -> ExtractionError:
    """An OLE file named .docx is an encrypted one, or the format before it."""
    if OLE_ENCRYPTED in data:
        return ExtractionError("encrypted", "The document is protected with a password.")
    return ExtractionError("type_mismatch", "The file is of an older Word format; save it as .docx.")
