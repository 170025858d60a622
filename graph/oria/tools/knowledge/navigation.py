"""Telling what a page says from what only leads on: links, and the few words beside them, are no evidence."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graph.policy import KNOWLEDGE_NAVIGATION_WORDS
from oria_runtime.knowledge.content.content import Link

WORD = re.compile(r"\w+")
LIST_MARK = re.compile(r"(?:^|\s+)(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True)
class LinkWords:
    """The words of a page's links: their texts by the first word, the longest first, and the lines that hold them."""

    texts: Mapping[str, Sequence[str]]
    lines: Collection[str]


def read_words(links: Sequence[Link]) -> LinkWords:
    """The words of these links."""
    texts: dict[str, list[str]] = {}
    for text in sorted({link.text for link in links}, key=len, reverse=True):
        if first := WORD.search(text):
            texts.setdefault(first[0], []).append(text[first.start() :])
    # What stands round a link in Markdown is its whole list.
    around = {link.context for link in links}
    return LinkWords(texts, around | {item for context in around for item in LIST_MARK.split(context)})


def drop_navigation(text: str, links: LinkWords) -> str:
    """The text without lines that hold a link and next to nothing else: navigation is no evidence."""
    return "\n".join(line for line in text.splitlines() if not is_navigation(line, links)).strip()


def is_navigation(line: str, links: LinkWords) -> bool:
    """Whether a line is made of links' texts, or is the line of a link that says but a few words beside it.

    A number says something: "Annual leave: 30 days" is a fact, also where "Annual leave" leads on.
    """
    mark = LIST_MARK.match(line)
    said = line[mark.end() if mark else 0 :].strip()
    words = list(WORD.finditer(said))
    others = leave_out(said, words, links.texts)
    if len(others) == len(words):
        return False
    few = len(others) < KNOWLEDGE_NAVIGATION_WORDS and not any(map(str.isdecimal, "".join(others)))
    return not others or (few and said in links.lines)


def leave_out(line: str, words: Sequence[re.Match[str]], texts: Mapping[str, Sequence[str]]) -> list[str]:
    """The words of a line that belong to none of the texts; only a text's whole words count."""
    others: list[str] = []
    end = 0
    for word in words:
        if word.start() < end:
            continue
        start = word.start()
        found = next((text for text in texts.get(word[0], ()) if line.startswith(text, start)), None)
        if found is None or WORD.match(line, start + len(found)):
            others.append(word[0])
        else:
            end = start + len(found)
    return others
