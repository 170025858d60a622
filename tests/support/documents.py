"""Documents made for a test: PDFs of written and scanned pages, Word files."""

import zlib
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from pypdf import PdfReader, PdfWriter

# Stands for a page that is a picture.
SCAN = None

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def make_pdf(pages: Sequence[str | None], *, password: str | None = None, algorithm: str = "AES-256") -> bytes:
    """A PDF whose pages show these texts; SCAN is a page that shows a picture only."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    image = b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
    kids = []
    for page in pages:
        content = b"/I Do" if page is None else f"BT /F 12 Tf 72 700 Td ({page}) Tj ET".encode("latin-1")
        first = len(objects) + 1
        kids.append(b"%d 0 R" % first)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
            b"/Resources << /Font << /F %d 0 R >> /XObject << %s >> >> >>"
            % (first + 1, first + 2, b"" if page is not None else b"/I %d 0 R" % (first + 3)),
            make_stream(content),
            font,
            make_stream(b"\x80", image),
        ]
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    written = write_objects(objects)
    return encrypt(written, password, algorithm) if password is not None else written


def make_stream(content: bytes, dictionary: bytes = b"<< ") -> bytes:
    return dictionary + b"/Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def write_objects(objects: Sequence[bytes]) -> bytes:
    """A PDF file with its cross-reference table."""
    file, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    file += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(file)


def encrypt(pdf: bytes, password: str, algorithm: str) -> bytes:
    """The PDF with a user password; an empty one only restricts what readers allow."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    writer.encrypt(password, owner_password="owner", algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def make_bomb_pdf(megabytes: int) -> bytes:
    """A small PDF whose only page expands to this much content, compressed twice."""
    content = zlib.compress(zlib.compress(b" " * (megabytes * 1_000_000), 9), 9)
    stream = make_stream(content, b"<< /Filter [/FlateDecode /FlateDecode] ")
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << >> >>"
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return write_objects([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, stream])


def make_docx(paragraphs: Sequence[str], *, body: str = "", parts: dict[str, bytes] | None = None) -> bytes:
    """A Word file of paragraphs (XML-escaped already); `body` is further XML, `parts` are further files."""
    texts = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    document = f'<w:document xmlns:w="{WORD}"><w:body>{texts}{body}</w:body></w:document>'
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", document)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return out.getvalue()
