"""What is read out of Markdown: headings that are none in code, anchors, links, no templates."""

import time

import pytest

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.content.content import Content
from oria_runtime.knowledge.content.finishing import finish
from oria_runtime.knowledge.content.limits import ContentLimits
from oria_runtime.knowledge.content.markdown.page import read_markdown

LOCATION = "https://example.org/handbook/leave.md"


def read(source: str) -> Content:
    return finish(read_markdown(source, LOCATION, ContentLimits()), ContentLimits())


def outline(source: str) -> list[tuple[str, str | None]]:
    return [("/".join(section.path), section.anchor) for section in read(source).sections]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("---\ntitle: Leave types # all\nkeywords: a\n---\n# Other\nx", "Leave types"),
        ('---\ntitle: "Say \\"hi\\""\n---\nx', 'Say "hi"'),
        ("---\ntitle: 'It''s'\n...\nx", "It's"),
        ("---\ntitle: >-\n  Folded\n  title\n---\nx", "Folded title"),
        ("---\n---\n## B\nx\n# A\ny", "A"),
        ("x\n\nA title\n=======\ny", "A title"),
        ("only text", None),
    ],
)
def test_the_title_is_set_or_the_highest_heading(source: str, title: str | None) -> None:
    assert read(source).title == title


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# A\na\n## B\nb\n# C\nc", [("A", "a"), ("A/B", "b"), ("C", "c")]),
        ("A\n===\na\n\nB\n---\nb\n\n---\n\nc", [("A", "a"), ("A/B", "b")]),
        ("```\n# no\n```\n~~~~\n# no\n~~~\n# no\n~~~~\n# Yes #\na", [("", None), ("Yes", "yes")]),
        ("text\n\n    # code\n\n#hashtag\n####### seven", [("", None)]),
        ("# C#\na\n# `code` & *more*!\nb", [("C#", "c"), ("code & more!", "code--more")]),
        ("# A\na\n# A\nb\n# Été 2\nc", [("A", "a"), ("A", "a-1"), ("Été 2", "%C3%A9t%C3%A9-2")]),
        ("# A {#own}\na", [("A", "own")]),
    ],
)
def test_headings_have_githubs_anchors(source: str, expected: list[tuple[str, str | None]]) -> None:
    assert outline(source) == expected


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("one\ntwo  \nthree\n\nfour", "one two\nthree\n\nfour"),
        ("**bold** _it_ ***both*** ~~no~~ `x * y` snake_case_name 2*3", "bold it both no x * y snake_case_name 2*3"),
        ("* a\n  goes on\n* b\n    1. c", "- a goes on\n- b\n    1. c"),
        ("> quoted\n> text", "quoted text"),
        ("| G | D |\n|---|:-:|\n| A | 10 |\n| B | |", "G: A; D: 10\nG: B"),
        ("<table>\n<tr><th>G<th>D\n\n<tr><td>A<td>1</table>\nafter", "G: A; D: 1\n\nafter"),
        ('<div\n  class="x"\n>\ninside <b>it</b><br>here', "inside it\nhere"),
        (
            "![pic](a.png) see [the *form*](x.md) [^1] \\*kept\\* &amp; <https://a.org>",
            "see the form  *kept* & https://a.org",
        ),
        (
            '{% alert %}\nNote {{ x }}{% endalert %} {% slack_channel "travel" %}{: .c} {% include "a.html" %}',
            "Note  travel",
        ),
        ("a {% comment %}b\n\n{% endcomment %}c <!-- d -->e", "a c e"),
    ],
)
def test_marks_and_templates_are_not_text(source: str, text: str) -> None:
    assert "\n\n".join(section.text for section in read(source).sections) == text


def test_links_are_resolved_with_what_they_say() -> None:
    source = """See [the **form**](forms/a.md "Title"), [paid]({% page "/paid/" %}), [ref][R], [ref] and <https://b.org>.

Bare https://c.org/x, [here](#top) [self](leave.md) <a class=x href="/html file">html</a>

[r]: https://d.org/
[ref]: <e.md>
"""
    links = read(source).links
    assert [(link.location, link.text) for link in links] == [
        ("https://b.org/", "https://b.org"),
        ("https://example.org/handbook/forms/a.md", "the form"),
        ("https://example.org/paid/", "paid"),
        ("https://d.org/", "ref"),
        ("https://example.org/handbook/e.md", "ref"),
        ("https://example.org/html%20file", "html"),
        ("https://c.org/x", "https://c.org/x"),
    ]
    assert links[1].context.startswith("See the form, paid")


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[x](a ",
        "![a](",
        "*a ",
        "_a",
        "``a`",
        "<a ",
        "{%",
        "{{",
        "{% comment %}",
        "<!--",
        " ",
        "|a",
        "> ",
        "- ",
        "[^",
        "`",
    ],
)
def test_unclosed_marks_take_linear_time(unit: str) -> None:
    began = time.process_time()
    read("p\n\n# h" + unit * (200_000 // len(unit)) + "\n\n" + unit * (100_000 // len(unit)))
    assert time.process_time() - began < 2


@pytest.mark.parametrize(("begin", "unit"), [("[x](", " "), ("[x](a", " "), ('[x](a "', '" '), ("<a ", "href=x ")])
def test_marks_that_are_never_closed_take_linear_time(begin: str, unit: str) -> None:
    began = time.process_time()
    read(begin + unit * (200_000 // len(unit)) + "x")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "listing",
    [
        "> Run:\n> ```\n> # no\n> ```",
        "> ```\n> # never closed",
        "- ```sh\n  # no\n  ```",
        "1. x\n   ~~~\n   # no\n   ~~~",
    ],
)
def test_code_in_quotations_and_lists_ends_where_they_do(listing: str) -> None:
    assert outline(f"# A\na\n\n{listing}\n\n## B\nb") == [("A", "a"), ("A/B", "b")]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ExtractionError) as caught:
        read("".join(map(chr, range(1, 30))) * 10)
    assert caught.value.reason == "not_text"
