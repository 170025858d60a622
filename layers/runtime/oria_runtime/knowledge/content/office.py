"""PDF and Word documents. Runs only inside the worker process."""

import re
from dataclasses import replace
from io import BytesIO
from typing import Any, Final

from oria_runtime.documents.readers import check_docx, read_pages
from oria_runtime.knowledge.content.content import Content, Section
from oria_runtime.knowledge.content.html.page import read_page
from oria_runtime.knowledge.content.limits import ContentLimits

# A line that ends in a letter or comma and goes on in lower case is broken by the page's width only.
HYPHENATED: Final = re.compile(r"(?<=\w)-\n(?=[^\W\d_])")
WRAPPED: Final = re.compile(r"(?<=[\w,;)])[ \t]*\n[ \t]*(?=[^\W\d_])")


def read_pdf(data: bytes, limits: ContentLimits) -> Content:
    """A section for each page with text; browsers open a PDF at `#page=3` (RFC 8118, section 3)."""
    pages = read_pages(data, limits)
    sections = (
        Section((f"Page {number}",), f"page={number}", unwrap(text)) for number, text in enumerate(pages.texts, start=1)
    )
    return Content(pages.title, tuple(sections), warnings=tuple(pages.warnings))


def unwrap(text: str) -> str:
    """The text of a page with its paragraphs' lines joined."""
    text = re.sub(r"\r\n?", "\n", text)
    return WRAPPED.sub(join_lower, HYPHENATED.sub(join_lower, text))


def join_lower(broken: re.Match[str]) -> str:
    """What replaces a line's end: nothing for a hyphen, a blank for a blank, itself before a capital letter."""
    if not broken.string[broken.end()].islower():
        return broken[0]
    return "" if broken[0].startswith("-") else " "


def read_docx(data: bytes, location: str, limits: ContentLimits) -> Content:
    """A Word document by its headings, lists and tables. Nothing opens one at a heading, so there are no anchors."""
    import mammoth

    title = check_docx(data, limits)
    # Pictures would come along as text.
    converted = mammoth.convert_to_html(BytesIO(data), convert_image=mammoth.images.img_element(describe_image))
    content = read_page(converted.value, location, limits, whole=True)
    sections = tuple(replace(section, anchor=None) for section in content.sections)
    return replace(content, title=title or content.title, sections=sections)


def describe_image(_: Any) -> dict[str, str]:
    """The attributes of a picture in the converted document: none."""
    return {}
