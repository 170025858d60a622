"""The text within a block: what the marks say, without the marks."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Final

IMAGE: Final = re.compile(r"!\[[^\[\]]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]]*\])")
DESTINATION: Final = r"(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)"
CAPTION: Final = r"(?:\s++(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
LABEL: Final = r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
LINK: Final = re.compile(rf"{LABEL}\(\s*+{DESTINATION}{CAPTION}\s*+\)")
REFERENCE: Final = re.compile(r"\[([^\[\]]+)\](?:\[([^\[\]]*)\])?")
FOOTNOTE: Final = re.compile(r"\[\^[^\[\]\s]+\]:?")
AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>", re.IGNORECASE)
BARE: Final = re.compile(r"(?<![\w/])https?://[^\s<>\[\]()\"'`*]+[^\s<>\[\]()\"'`*.,;:!?]")
HTML_LINK: Final = re.compile(r"<a(\s[^<>]*+)>([^<>]*)", re.IGNORECASE)
HREF: Final = re.compile(r"\shref=(?:\"([^\"<>]+)|'([^'<>]+)|([^\"'\s<>]+))", re.IGNORECASE)
LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
HTML_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
CODE: Final = re.compile(r"``([^`]+(?:`[^`]+)*)``|`([^`]+)`")
EMPHASIS: Final = (
    re.compile(r"\*\*\*([^*\n]+)\*\*\*"),
    re.compile(r"\*\*([^*]+)\*\*"),
    re.compile(r"\*([^*\s][^*]*)\*"),
    re.compile(r"(?<!\w)__([^_]+)__(?!\w)"),
    re.compile(r"(?<!\w)_([^_]+)_(?!\w)"),
    re.compile(r"~~([^~]+)~~"),
)
ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
MARKS: Final = re.compile(r"[`*_~\[<&\\\ue000\ue001]|https?://")
# Characters for private use stand for the code that was taken out while the rest is read.
KEPT: Final = re.compile("\ue000(\\d+)\ue001")


@dataclass
class Inline:
    """The text of a block, and its links as written with what they say."""

    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)


def read_inline(source: str, references: Mapping[str, str]) -> Inline:
    """The text and the links of a block; `references` are the document's link definitions."""
    if not MARKS.search(source):
        return Inline(source)
    inline = Inline()
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return f"\ue000{len(kept) - 1}\ue001"

    source = source.replace("\ue000", "").replace("\ue001", "")
    source = CODE.sub(lambda code: keep((code[1] or code[2]).strip()), source)
    source = ESCAPE.sub(lambda escape: keep(escape[1]), source)
    source = FOOTNOTE.sub("", IMAGE.sub("", source))
    source = take_links(source, references, inline.links)
    source = HTML_TAG.sub("", LINE_BREAK.sub("\n", source))
    for pattern in EMPHASIS:
        source = pattern.sub(r"\1", source)
    restore = restorer(kept)
    inline.text = restore(unescape(source))
    inline.links = [(unescape(restore(href)), strip_marks(restore(text))) for href, text in inline.links]
    return inline


def restorer(kept: list[str]) -> Callable[[str], str]:
    """Puts what was kept back into a text."""
    return lambda text: KEPT.sub(lambda mark: kept[int(mark[1])], text)


def strip_marks(text: str) -> str:
    """A link's own words without emphasis and tags."""
    text = HTML_TAG.sub("", text)
    for pattern in EMPHASIS:
        text = pattern.sub(r"\1", text)
    return unescape(text)


def take_links(source: str, references: Mapping[str, str], links: list[tuple[str, str]]) -> str:
    """The source with links replaced by what they say; addresses that stand by themselves stay."""

    def take(href: str, text: str) -> str:
        links.append((href.strip("<>"), text))
        return text

    def take_reference(found: re.Match[str]) -> str:
        name = normalize_label(found[2] or found[1])
        return take(references[name], found[1]) if name in references else found[0]

    source = AUTOLINK.sub(lambda found: take(found[1], found[1]), source)
    source = LINK.sub(lambda found: take(found[2], found[1]), source)
    source = REFERENCE.sub(take_reference, source)
    for found in HTML_LINK.finditer(source):
        if href := HREF.search(found[1]):
            take(href[1] or href[2] or href[3], found[2])
    for found in BARE.finditer(source):
        take(found[0], found[0])
    return source


def normalize_label(label: str) -> str:
    """The name of a link definition: case and white space do not count."""
    return " ".join(label.split()).casefold()
