"""What every reader's content goes through last: clean, composed, within its bounds, and not empty."""

import unicodedata
from dataclasses import replace

from oria_runtime.db.text import clean_text
from oria_runtime.documents.limits import TITLE_CHARACTERS
from oria_runtime.documents.readers import check_length, describe_emptiness
from oria_runtime.knowledge.content.content import Content, Link, Section
from oria_runtime.knowledge.content.limits import ContentLimits

SOFT_HYPHEN = "\u00ad"


def finish(content: Content, limits: ContentLimits) -> Content:
    """The content as it may be stored.

    Raises ExtractionError: `too_many_characters`, or `no_text` where there is neither text nor a link to follow nor the
    page's own wish not to be read.
    """
    sections = tuple(section for section in map(clean_section, content.sections) if section.text)
    check_length(sum(len(section.text) for section in sections), limits)
    warnings = content.warnings
    if not sections and not any(warning["code"] == "noindex" for warning in warnings):
        if not content.links:
            raise describe_emptiness([w for w in warnings if w["code"] == "pages_without_text"])
        warnings = (*warnings, {"code": "no_text"})
    title = " ".join(clean(content.title or "").split())[:TITLE_CHARACTERS].strip()
    return replace(
        content,
        title=title or None,
        sections=sections,
        links=tuple(clean_link(link) for link in content.links),
        warnings=warnings,
    )


def clean(text: str) -> str:
    """Text that Postgres holds and a search finds: composed (NFC), because some systems write the same letters
    decomposed, and without the marks of where a word may be broken."""
    return unicodedata.normalize("NFC", clean_text(text).replace(SOFT_HYPHEN, ""))


def clean_section(section: Section) -> Section:
    path = tuple(clean(title) for title in section.path)
    return Section(path, section.anchor and clean_text(section.anchor), clean(section.text).strip())


def clean_link(link: Link) -> Link:
    return Link(link.location, clean(link.text), clean(link.context))
