"""Liquid, the templates of Jekyll and its kin: `{% … %}` and `{{ … }}` are instructions, not text."""

import re
from typing import Final

COMMENT: Final = re.compile(r"\{%-?\s*comment\s*-?%\}")
END_COMMENT: Final = re.compile(r"\{%-?\s*endcomment\s*-?%\}")
TAG: Final = re.compile(r"\{%[^%{]*%\}")
OUTPUT: Final = re.compile(r"\{\{[^{}]*\}\}")
# kramdown's attributes of a block or span.
ATTRIBUTES: Final = re.compile(r"\{:[^{}\n]*\}")
WORDS: Final = re.compile(r"\{%-?\s*\w+((?:\s+(?:\"[^\"{}%]*\"|'[^'{}%]*'))+)\s*-?%\}")
QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
# Tags that give the address of another page or file of the site.
ADDRESS: Final = re.compile(r"\{%-?\s*(?:page|link|post_url|url)\s+[\"']?([^\"'\s{}%]+)[\"']?\s*-?%\}")


def drop_templates(text: str) -> str:
    """The text without instructions. What some of them say stays: the address in a link, and the words that a tag of
    the site's own is given, such as a channel's name; a path is no word."""
    text = cut_between(text, COMMENT, END_COMMENT)
    text = ADDRESS.sub(r"\1", text)
    text = WORDS.sub(keep_words, text)
    return ATTRIBUTES.sub("", OUTPUT.sub("", TAG.sub("", text)))


def keep_words(tag: re.Match[str]) -> str:
    """What a tag is given in quotes, unless it is a path or a file."""
    words = [double or single for double, single in QUOTED.findall(tag[1])]
    return "" if any("/" in word or "." in word for word in words) else " ".join(words)


def cut_between(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """The text without what stands between two marks; what is not closed stays."""
    kept: list[str] = []
    position = 0
    while (begin := opening.search(text, position)) and (end := closing.search(text, begin.end())):
        kept.append(text[position : begin.start()])
        position = end.end()
    return "".join([*kept, text[position:]])
