"""The process that reads one document which may do harm: `python -m oria_runtime.knowledge.content.worker`.

Bounded and killed as `oria_runtime.documents.worker` describes; it answers with Content.
"""

from collections.abc import Mapping
from typing import Any

from oria_runtime.documents import formats
from oria_runtime.documents.worker import serve
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.finishing import finish
from oria_runtime.knowledge.content.limits import ContentLimits

HTML = "text/html"


def main() -> None:
    """Answer the request on standard input."""
    serve(read, ContentLimits)


def read(data: bytes, about: Mapping[str, Any], limits: ContentLimits) -> Content:
    """The content of a document. HTML comes as UTF-8."""
    # Each reader is imported by who needs it: a page needs neither pypdf nor mammoth, which some functions do not have.
    if about["media_type"] == HTML:
        from oria_runtime.knowledge.content.html.page import read_page

        return finish(read_page(data.decode(), about["location"], limits), limits)
    from oria_runtime.documents.readers import library_errors
    from oria_runtime.knowledge.content.office import read_docx, read_pdf

    with library_errors():
        if about["media_type"] == formats.PDF:
            return finish(read_pdf(data, limits), limits)
        return finish(read_docx(data, about["location"], limits), limits)


if __name__ == "__main__":
    main()
