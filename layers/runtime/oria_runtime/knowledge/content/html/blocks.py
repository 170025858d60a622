"""The text of a part of a page as blocks: paragraphs, lists, tables, listings. A block is one or several lines."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oria_runtime.knowledge.content.html.tree import HEADINGS, Element, find_outermost
from oria_runtime.knowledge.content.tables import render_table

INLINE_TAGS: Final = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr output q rp rt ruby s samp"
    " slot small span strike strong sub sup time tt u var wbr button math mi mn mo mrow"
)
INLINE: Final = frozenset(INLINE_TAGS.split())
LISTS: Final = frozenset({"ul", "ol", "menu", "dir"})
# What makes a table or a list the frame of a page rather than a table or a list.
STRUCTURE: Final = frozenset({*HEADINGS, "table", "article", "section"})
ROWS, CELLS, TERMS = frozenset({"tr"}), frozenset({"td", "th"}), frozenset({"dt", "dd"})
BREAK: Final = "\x0b"
# A cell may claim any number of columns; the standard allows 1,000, readable tables have fewer.
COLUMNS: Final = 50


class Blocks:
    """Collects the blocks of elements in the order in which they are read."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._line: list[str] = []

    def visit_all(self, nodes: Iterable[Element | str]) -> None:
        """Read nodes that follow one another."""
        for node in nodes:
            self.visit(node)

    def visit(self, node: Element | str) -> None:
        """Read one node."""
        if isinstance(node, str):
            self._line.append(node.replace(BREAK, " "))
        elif not node.furniture:
            self.visit_element(node)

    def visit_element(self, element: Element) -> None:
        """Read an element by what it is."""
        if element.tag == "br":
            self._line.append(BREAK)
        elif element.tag in INLINE:
            self.visit_all(element.children)
        elif block := render_special(element):
            self.flush()
            self.add(block)
        else:
            self.flush()
            self.visit_all(element.children)
            self.flush()

    def flush(self) -> None:
        """End the line of text that is being read."""
        lines = (" ".join(line.split()) for line in "".join(self._line).split(BREAK))
        self._line.clear()
        self.add("\n".join(filter(None, lines)))

    def add(self, block: str) -> None:
        """Append a block, unless it is empty."""
        if block:
            self.blocks.append(block)


def render(nodes: Iterable[Element | str]) -> list[str]:
    """The blocks of some nodes; headings among them are blocks like others."""
    blocks = Blocks()
    blocks.visit_all(nodes)
    blocks.flush()
    return blocks.blocks


def render_line(element: Element) -> str:
    """The text of an element in one line."""
    return " ".join(" ".join(render(element.children)).split())


def render_special(element: Element) -> str:
    """The block of a listing, a list or a table; empty for what is none, or frames other parts of the page."""
    if element.tag == "pre":
        return render_listing(element)
    if element.tag in LISTS and not element.has(STRUCTURE):
        return "\n".join(render_items(element))
    if element.tag == "dl" and not element.has(STRUCTURE):
        return "\n\n".join(render_terms(element))
    if element.tag == "table" and not is_frame(element):
        return render_rows(element)
    return ""


def render_listing(element: Element) -> str:
    """Preformatted text with its lines and their indentation."""
    lines = [line.rstrip() for line in "".join(read_raw(element)).splitlines()]
    return "\n".join(lines).strip("\n")


def read_raw(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif child.tag == "br":
            yield "\n"
        else:
            yield from read_raw(child)


def render_items(element: Element) -> Iterator[str]:
    """The items of a list, what is in them indented."""
    number = 0
    for child in element.elements():
        if child.tag in LISTS:
            # Invalid, and common: a list right in a list belongs to the item before it.
            yield from (f"  {line}" for line in "\n".join(render_items(child)).splitlines())
            continue
        lines = "\n".join(render(child.children)).splitlines()
        if lines:
            number += 1
            mark = f"{number}. " if element.tag == "ol" else "- "
            yield "\n".join([mark + lines[0], *(f"  {line}" for line in lines[1:])])


def render_terms(element: Element) -> Iterator[str]:
    """The entries of a list of definitions: terms, a colon, what they mean."""
    terms: list[str] = []
    meanings: list[str] = []
    # A list within a meaning is in its text: met once more at each level, it would double the work of that level.
    for part in find_outermost(element, lambda part: part.tag in TERMS):
        if part.tag == "dt" and meanings:
            yield f"{', '.join(terms)}: {'; '.join(meanings)}" if terms else "; ".join(meanings)
            terms, meanings = [], []
        text = render_line(part)
        (terms if part.tag == "dt" else meanings).extend([text] if text else [])
    yield ": ".join(filter(None, [", ".join(terms), "; ".join(meanings)]))


def is_frame(table: Element) -> bool:
    """Whether a table only arranges a page: it says so, holds parts of one, or has a single column."""
    if table.role() in {"presentation", "none"} or table.has(STRUCTURE):
        return True
    return all(len(list(row.find(CELLS))) < 2 for row in table.find(ROWS))


def render_rows(table: Element) -> str:
    """A table row by row, named by its header where it has one."""
    rows = [list(row.find(CELLS)) for row in table.find(ROWS)]
    grid = spread(rows)
    has_header = bool(rows) and len(rows) > 1 and all(cell.tag == "th" for cell in rows[0]) and bool(rows[0])
    header = grid[0] if has_header else []
    caption = " ".join(render_line(part) for part in table.find(frozenset({"caption"})))
    return render_table(grid[1:] if has_header else grid, header=header, caption=caption)


def spread(rows: Sequence[Sequence[Element]]) -> list[list[str]]:
    """The texts of cells by column: a cell over several columns or rows stands in each of them."""
    grid: list[list[str]] = []
    # By column: how many rows a cell above still covers, and its text.
    covered: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        for cell in row:
            take_covered(line, covered)
            text, columns, height = render_line(cell), read_span(cell, "colspan"), read_span(cell, "rowspan")
            for _ in range(min(columns, COLUMNS - len(line))):
                covered.update({len(line): (height - 1, text)} if height > 1 else {})
                line.append(text)
        take_covered(line, covered)
        grid.append(line)
    return grid


def take_covered(line: list[str], covered: dict[int, tuple[int, str]]) -> None:
    """Fill the next columns from cells of rows above."""
    while (found := covered.pop(len(line), None)) is not None:
        rows, text = found
        if rows > 1:
            covered[len(line)] = (rows - 1, text)
        line.append(text)
        if rows > 1 and len(line) >= COLUMNS:
            return


def read_span(cell: Element, name: str) -> int:
    """How many columns or rows a cell covers; 1 for what is no such number."""
    text = cell.attributes.get(name, "")
    return min(max(int(text), 1), COLUMNS) if text.isascii() and text.isdigit() and len(text) < 5 else 1
