"""Reading the text out of bytes, one reader for each format. Runs only inside the worker process: see `worker`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final
from xml.etree.ElementTree import ParseError, fromstring
from zipfile import BadZipFile, ZipFile

from oria_runtime.db.text import clean_text
from oria_runtime.documents import formats
from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.limits import TITLE_CHARACTERS, ExtractionLimits

BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    # Before UTF-16, whose mark it begins with.
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# A text has none; a binary file that some encoding happens to decode has a third.
CONTROLS_SHARE: Final = 0.01
# Closing marks are cut afterwards: a pattern that looks for them too takes a minute for a line of blanks.
HEADING: Final = re.compile(r"^#{1,2}[ \t]+(\S.*)$", re.MULTILINE)
TITLE_TAG: Final = "{http://purl.org/dc/elements/1.1/}title"
CORE: Final = "docProps/core.xml"


@dataclass(frozen=True)
class Reading:
    """What a reader found; `warnings` are `{code, pages}`."""

    text: str
    pages: int | None = None
    title: str | None = None
    warnings: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Pages:
    """The text of each page, empty where there is none; `warnings` as in Reading."""

    texts: Sequence[str]
    title: str | None
    warnings: Sequence[Mapping[str, Any]]


def read_pdf(data: bytes, limits: ExtractionLimits) -> Reading:
    """The text layer of a PDF in one text."""
    pages = read_pages(data, limits)
    return Reading("\n\n".join(filter(None, pages.texts)), len(pages.texts), pages.title, pages.warnings)


def read_pages(data: bytes, limits: ExtractionLimits) -> Pages:
    """The text layer of a PDF, page by page. A page that shows pictures and no text is a scan: it is warned of."""
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    # Many PDFs only restrict printing: they open with the empty password (ISO 32000-1, 7.6.3.4).
    if reader.is_encrypted and not reader.decrypt(""):
        raise ExtractionError("encrypted", "The PDF is protected with a password.")
    count = len(reader.pages)
    if count > limits.pages:
        raise ExtractionError("too_many_pages", f"The document has {count} pages; at most {limits.pages} are read.")
    texts: list[str] = []
    scanned: list[int] = []
    length = 0
    for number, page in enumerate(reader.pages, start=1):
        text = page.extract_text().strip()
        length += len(text)
        check_length(length, limits)
        texts.append(text)
        if not text:
            check_content(page)
            scanned += [number] if has_picture(page) else []
    warnings = [{"code": "pages_without_text", "pages": scanned}] if scanned else []
    return Pages(texts, read_pdf_title(reader), warnings)


def read_pdf_title(reader: Any) -> str | None:
    """The title in the document's information, which may hold anything: a document is not refused for it."""
    try:
        title = reader.metadata.title if reader.metadata else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as in `read`: the next line of pypdf that meets the damage raises what it likes
        return None
    return title if isinstance(title, str) else None


def check_content(page: Any) -> None:
    """Raise what pypdf's text extraction swallows: a page that cannot be read must not pass for an empty one."""
    contents = page.get_contents()
    if contents is not None:
        contents.get_data()


def has_picture(page: Any) -> bool:
    """Whether a page draws an image, which is not decoded for that."""
    resources = page.get("/Resources")
    objects = (resources.get_object() if resources else {}).get("/XObject")
    named = objects.get_object() if objects else {}
    return any(named[name].get_object().get("/Subtype") == "/Image" for name in named)


def read_docx(data: bytes, limits: ExtractionLimits) -> Reading:
    """The paragraphs and table cells of a Word document, in order. It has no pages before it is laid out."""
    import mammoth

    title = check_docx(data, limits)
    text = mammoth.extract_raw_text(BytesIO(data)).value
    return Reading(re.sub(r"\n{3,}", "\n\n", text), None, title)


def check_docx(data: bytes, limits: ExtractionLimits) -> str | None:
    """The title in a Word document's properties. Raises ExtractionError for what is none or expands too far."""
    with ZipFile(BytesIO(data)) as archive:
        expanded = sum(entry.file_size for entry in archive.infolist())
        if expanded > limits.expanded:
            raise ExtractionError("too_complex", f"The document expands to more than {limits.expanded} bytes.")
        if "word/document.xml" not in archive.namelist():
            raise ExtractionError("broken", "The Word document has no main part.")
        return read_docx_title(archive)


def read_docx_title(archive: ZipFile) -> str | None:
    """The title in the document's properties."""
    if CORE not in archive.namelist():
        return None
    # expat bounds the amplification of entities and loads no external ones; the process is bounded as a whole.
    found = fromstring(archive.read(CORE)).find(TITLE_TAG)  # noqa: S314
    return found.text if found is not None else None


def read_markdown(data: bytes, limits: ExtractionLimits) -> Reading:
    """Markdown as it is written; its first heading is the title."""
    reading = read_text(data, limits)
    heading = HEADING.search(reading.text)
    return Reading(reading.text, title=heading[1].rstrip().rstrip("#") if heading else None)


def read_text(data: bytes, _: ExtractionLimits) -> Reading:
    """Text by its byte order mark, else as UTF-8, else in the encoding that a detector finds."""
    text = decode(data)
    check_text(text)
    return Reading(text)


def check_text(text: str) -> None:
    """Raises ExtractionError(`not_text`) for a binary file that some encoding happened to decode."""
    if len(CONTROLS.findall(text)) > len(text) * CONTROLS_SHARE:
        raise ExtractionError("not_text", "The file is not text.")


def decode(data: bytes) -> str:
    """The text of bytes. Raises ExtractionError(`not_text`)."""
    marked = next((encoding for mark, encoding in BOMS if data.startswith(mark)), None)
    try:
        return data.decode(marked or "utf-8")
    except UnicodeDecodeError as error:
        if marked:
            raise ExtractionError("not_text", "The text is not in the encoding that its first bytes name.") from error
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise ExtractionError("not_text", "The encoding of the text could not be found; save it as UTF-8.")
    return str(best)


READERS: Mapping[str, Callable[[bytes, ExtractionLimits], Reading]] = {
    formats.PDF: read_pdf,
    formats.DOCX: read_docx,
    formats.MARKDOWN: read_markdown,
    formats.TEXT: read_text,
}


def read(data: bytes, media_type: str, limits: ExtractionLimits) -> Reading:
    """The cleaned text of a document. Raises ExtractionError."""
    with library_errors():
        reading = READERS[media_type](data, limits)
    text = clean_text(reading.text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not text:
        raise describe_emptiness(reading.warnings)
    check_length(len(text), limits)
    title = " ".join(clean_text(reading.title or "").split())[:TITLE_CHARACTERS]
    return Reading(text, reading.pages, title or None, reading.warnings)


@contextmanager
def library_errors() -> Iterator[None]:
    """What pypdf, mammoth and the standard library raise, as ExtractionError."""
    try:
        yield
    except (ExtractionError, MemoryError):
        raise
    except (BadZipFile, ParseError) as error:
        raise ExtractionError("broken", "The file is damaged or incomplete.") from error
    except Exception as error:
        # pypdf and mammoth meet a damaged file with whatever their next line raises.
        raise describe_failure(error) from error


def describe_emptiness(warnings: Sequence[Mapping[str, Any]]) -> ExtractionError:
    """The error of a document without text; one that was warned of has pictures of it."""
    scanned = " It seems to be a scan." if warnings else ""
    return ExtractionError("no_text", f"The document has no text that could be read.{scanned}")


def describe_failure(error: Exception) -> ExtractionError:
    """What a library's exception means: its own bounds were met, or the file is damaged."""
    if isinstance(error, RecursionError) or type(error).__name__ == "LimitReachedError":
        return ExtractionError("too_complex", "The document is too deep or expands too far.")
    return ExtractionError("broken", "The file is damaged or incomplete.")


def check_length(length: int, limits: ExtractionLimits) -> None:
    """Raises ExtractionError(`too_many_characters`)."""
    if length > limits.characters:
        detail = f"The document has more than {limits.characters} characters."
        raise ExtractionError("too_many_characters", detail)
