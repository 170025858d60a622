"""What is read out of a web page: its main part by headings, its links, what its head says."""

import tracemalloc

import pytest

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.knowledge.content.content import Content, Section
from oria_runtime.knowledge.content.finishing import finish
from oria_runtime.knowledge.content.harmless import is_harmless
from oria_runtime.knowledge.content.html.page import read_page
from oria_runtime.knowledge.content.limits import ContentLimits

LOCATION = "https://example.org/handbook/leave"
LONG = "Everybody has twenty-six days of paid leave a year, and takes at least ten of them in one go. " * 3

MENU = "<div><a href=/a>About</a> <a href=/b>News</a> <a href=/c>Jobs</a> <a href=/d>Contact</a></div>"


def read(html: str, **limits: int) -> Content:
    bounds = ContentLimits(**limits)
    return finish(read_page(html, LOCATION, bounds), bounds)


def read_text(html: str) -> str:
    return "\n\n".join(section.text for section in read(html).sections)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two<br>three", "one\n\ntwo\nthree"),
        ("<ul><li>a<li>b<ul><li>c</ul><li><p>d<p>e</ul>", "- a\n- b\n  - c\n- d\n  e"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<dl><dt>PTO<dd>paid time off<dt>A<dt>B<dd>x<dd>y</dl>", "PTO: paid time off\n\nA, B: x; y"),
        ("<dl><dt>A<dd>a<dl><dt>B<dd>b</dl><dt>C<dd>c</dl>", "A: a B: b\n\nC: c"),
        ("<pre>if x:\n    y</pre>", "if x:\n    y"),
        ("<details><summary>Why?</summary>Because.</details>", "Why?\n\nBecause."),
        ("<table><tr><th>Grade<th>Days<tr><td>A<td>10<tr><td>B<td></table>", "Grade: A; Days: 10\nGrade: B"),
        ("<table><tr><th>G<th>D<tr><td rowspan=2>A<td>1<tr><td>2</table>", "G: A; D: 1\nG: A; D: 2"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a | b\nc | d"),
        ("<table><tr><td><p>framed<p>text</table>", "framed\n\ntext"),
        ("<p>a&nbsp;b  c\n d e\u00adf cafe\u0301</p>", "a b c d ef café"),
        ("<p>seen<script>x</script><style>y</style><span hidden>z</span><i style='display: none'>w</i></p>", "seen"),
        ("<h3><button aria-controls=a>Q</button></h3><div id=a hidden>shown on demand</div>", "shown on demand"),
        ("<form><p>a<p>b<p>c<input value=x></form><form><label>Search</label></form>", "a\n\nb\n\nc"),
        ("<nav>menu</nav><p>text</p><aside>side</aside><footer>foot</footer><div role=banner>b</div>", "text"),
        ("<p>never <b>closed <i>marks</p><p>go on</div></p>", "never closed marks\n\ngo on"),
    ],
)
def test_a_page_reads_as_it_looks(html: str, text: str) -> None:
    assert read_text(f"<main>{html}</main>") == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"<div>noise</div><main><p>{LONG}</main>", LONG.strip()),
        (f"<div>noise</div><div role=main><p>{LONG}</div>", LONG.strip()),
        (f"<div>noise</div><article><p>{LONG}</article>", LONG.strip()),
        (
            f"<form id=page><table><tr><td><a href=/>Home</a><td>{LONG}{LONG}</table></form>",
            (LONG + LONG).strip(),
        ),
        (f"<main></main><div>x</div><div><div><p>{LONG}</div></div>", LONG.strip()),
        (
            f"{MENU}<div><p>{LONG}<p>{LONG}</div>",
            f"{LONG.strip()}\n\n{LONG.strip()}",
        ),
        ("<ul><li><a href=a>A</a><li><a href=b>B</a><li><a href=c>C</a><li><a href=d>D</a></ul>", "- A\n- B\n- C\n- D"),
    ],
)
def test_the_main_part_is_named_or_densest(html: str, text: str) -> None:
    assert read_text(html) == text


def test_headings_are_a_path_with_anchors() -> None:
    html = """<main><p>Lead</p><h1 id=leave>Leave</h1><p>a</p>
        <section id=annual><h2>Annual <a href="#annual">¶</a></h2><p>b</p></section>
        <a name="sick pay"></a><a name=sick></a><h3>Sick</h3><p>c</p>
        <h2><span id="congé">Other</span></h2><p>d</p><div role=heading aria-level=3>Last</div></main>"""
    assert read(html).sections == (
        Section((), None, "Lead"),
        Section(("Leave",), "leave", "a"),
        Section(("Leave", "Annual"), "annual", "b"),
        Section(("Leave", "Annual", "Sick"), "sick", "c"),
        Section(("Leave", "Other"), "cong%C3%A9", "d"),
        Section(("Leave", "Other", "Last"), None, "Last"),
    )


@pytest.mark.parametrize(
    ("head", "title", "canonical"),
    [
        ("<title>Leave - Site</title><meta property=og:title content=' Leave  types '>", "Leave types", None),
        ("<title>Leave</title><link rel=canonical href=/leave/>", "Leave", "https://example.org/leave/"),
        ("<link rel='CANONICAL' href='ftp://x.org/'>", "Heading", None),
        ("<base href=https://other.org/x/><link rel=canonical href=y>", "Heading", "https://other.org/x/y"),
    ],
)
def test_the_head_names_the_page(head: str, title: str, canonical: str | None) -> None:
    content = read(f"<head>{head}</head><main><h1>Heading</h1><p>text</p></main>")
    assert (content.title, content.canonical) == (title, canonical)


def test_links_are_absolute_once_and_without_those_to_the_page_itself() -> None:
    html = """<nav><a href=/menu>Menu</a></nav><main><h2>Forms</h2>
        <p>Ask with <a href="Form#top">the form</a> first.</p><p><a href="/handbook/form">again</a>
        <a href=#x>here</a> <a href="leave#y">same page</a> <a href=mailto:a@b.c>mail</a> <a href="http://[">bad</a>
        <a href="javascript:x()">run</a></p><h3>Map</h3><a href="?q=1"><img alt="x"></a></main>"""
    links = [(link.location, link.text, link.context) for link in read(html).links]
    assert links[0] == ("https://example.org/handbook/Form", "the form", "Ask with the form first.")
    assert [location for location, _, _ in links[1:]] == [
        "https://example.org/handbook/form",
        "https://example.org/handbook/leave?q=1",
        "https://example.org/menu",
    ]


def test_links_to_files_with_blanks_in_their_names_are_links() -> None:
    html = """<main><p>See <a href="Annual Leave 2025.pdf">leave</a> and <a href="find.aspx?q=sick leave">more</a>."""
    assert [link.location for link in read(html).links] == [
        "https://example.org/handbook/Annual%20Leave%202025.pdf",
        "https://example.org/handbook/find.aspx?q=sick%20leave",
    ]


def test_a_page_of_ten_thousand_links_keeps_a_bounded_list() -> None:
    html = "<main>" + "".join(f"<a href=/p{number}>Page {number}</a> " for number in range(10_000)) + "</main>"
    content = read(html)
    assert len(content.links) == 1_000
    assert content.warnings == ({"code": "links_left_out", "count": 9_000},)
    assert all(len(link.context) <= 300 for link in content.links)


@pytest.mark.parametrize(
    ("directives", "sections", "links", "codes"),
    [
        ("noindex", 0, 1, ["noindex"]),
        ("NoFollow, noarchive", 1, 0, ["nofollow"]),
        ("none", 0, 0, ["noindex", "nofollow"]),
        ("index", 1, 1, []),
    ],
)
def test_what_a_page_asks_of_robots_is_respected(directives: str, sections: int, links: int, codes: list[str]) -> None:
    content = read(f"<meta name=robots content='{directives}'><main><p>a <a href=/b>b</a></p></main>")
    assert (len(content.sections), len(content.links)) == (sections, links)
    assert [warning["code"] for warning in content.warnings] == codes


def test_a_page_without_text_keeps_its_links_or_says_so() -> None:
    assert [w["code"] for w in read("<nav><a href=/a>A</a></nav>").warnings] == ["no_text"]
    with pytest.raises(ExtractionError) as caught:
        read("<script>app()</script>")
    assert caught.value.reason == "no_text"


def test_a_page_with_too_much_text_is_refused() -> None:
    with pytest.raises(ExtractionError) as caught:
        read("<p>" + "x" * 101, characters=100)
    assert caught.value.reason == "too_many_characters"


@pytest.mark.parametrize(
    ("html", "harmless"),
    [
        (f"<main><h1>A</h1>{'<p>text <b>bold</b> <a href=x>y</a></p>' * 60}</main>", True),
        ("<div>" * 30_000, False),
        ("<p " + "a=1 " * 50_000, False),
        ("<p>" + "".join(f"<b a={n}>" for n in range(1_000)) + "<p>x" * 1_000, False),
    ],
)
def test_what_could_cost_the_parser_too_much_is_known_beforehand(html: str, harmless: bool) -> None:
    assert is_harmless(html) is harmless


def test_the_deepest_page_that_is_read_here_keeps_its_text() -> None:
    assert read_text("<div>" * 9_000 + "deep" + "</div>" * 9_000 + "<p>after") == "deep\n\nafter"


def test_lists_in_lists_of_definitions_take_no_time() -> None:
    assert read_text("<main>" + "<dl><dt>a<dd>" * 40 + "deep</main>").endswith("deep")


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td rowspan=50 colspan=50>" + "word " * 20_000 + "<tr>" * 49 + "<tr><td>a<td>b",
        "<tr><th>" + "word " * 20_000 + "<th>b" + "<tr><td>1<td>2" * 1_500,
    ],
)
def test_a_table_that_repeats_itself_is_refused_before_it_fills_the_memory(rows: str) -> None:
    tracemalloc.start()
    with pytest.raises(ExtractionError) as caught:
        read(f"<main><table>{rows}</table></main>")
    assert caught.value.reason == "too_many_characters"
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
