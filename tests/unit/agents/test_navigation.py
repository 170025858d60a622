"""What of a page's lines is evidence, and what only leads on."""

import time

import pytest

from graph import policy
from graph.oria.tools.knowledge.navigation import drop_navigation, read_words
from oria_runtime.knowledge.content.content import Link
from oria_runtime.knowledge.content.reading import read_content

LOCATION = "https://intranet.example/travel"


async def read_lines(body: str, media_type: str = "text/html") -> list[str]:
    """The lines of a page that are left as evidence."""
    page = f"<html><body><main>{body}</main></body></html>" if media_type == "text/html" else body
    content = await read_content(page.encode(), media_type, "utf-8", LOCATION)
    links = read_words(content.links)
    kept = [drop_navigation(section.text, links) for section in content.sections]
    return [line for text in kept for line in text.splitlines() if line]


PAGING = '<p><a href="/?p=1">1</a> <a href="/?p=2">2</a> <a href="/?p=3">3</a> <a href="/notice">Notice</a></p>'


async def test_a_link_elsewhere_takes_no_fact_away() -> None:
    """Neither by a digit inside a number, nor by a word that both have."""
    facts = "<h1>Travel</h1><ul><li>Hotel: 130 EUR</li><li>Notice: none</li></ul><p>Notice period: 3 months.</p>"
    assert await read_lines(facts + PAGING) == ["- Hotel: 130 EUR", "- Notice: none", "Notice period: 3 months."]


async def test_a_number_beside_a_link_says_something() -> None:
    assert await read_lines('<ul><li><a href="/leave">Annual leave</a>: 30 days</li></ul>') == [
        "- Annual leave: 30 days"
    ]


@pytest.mark.parametrize("few", ["About {}", "{}, see {}", "{} {}"])
async def test_lines_of_links_and_few_words_lead_on(few: str) -> None:
    link, written = '<a href="/remote">remote work</a>', "[remote work](/remote)"
    html = f"<p>It is so.</p><ol><li>{few.replace('{}', link)}</li></ol>"
    assert await read_lines(html) == ["It is so."]
    listed = f"It is so.\n\n- {few.replace('{}', written)}\n- [Other](/other)\n"
    assert await read_lines(listed, "text/markdown") == ["It is so."]
    many = " ".join(["word"] * policy.KNOWLEDGE_NAVIGATION_WORDS)
    assert len(await read_lines(f"<p>{many} {link}</p>")) == 1


def test_a_page_of_nothing_but_links_holds_nobody_up() -> None:
    links = read_words([Link(f"{LOCATION}/{n}", f"link number {n} to somewhere", "") for n in range(1_000)])
    text = "\n".join(["link number 17 to somewhere else"] * (policy.KNOWLEDGE_PAGE_CHARACTERS // 33))
    started = time.perf_counter()
    drop_navigation(text, links)
    assert time.perf_counter() - started < 0.5
