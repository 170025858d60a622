"""Bytes in, content out, whatever the format."""

from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.limits import ContentLimits

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


async def read_content(
    body: bytes, media_type: str, charset: str | None, location: str, limits: ContentLimits | None = None
) -> Content:
    """The content of a document.

    `media_type` and `charset` are what was declared, `location` is the base of its links. Raises ExtractionError
    (`oria_runtime.documents.errors`), whose `reason` says why there is none; a page that asks not to be indexed is no
    error: it has no sections and the warning `noindex`.
    """
    raise NotImplementedError
