"""The lines of a Markdown document as blocks: headings, text, tables, code. Code is no heading, whatever it begins with
(CommonMark 0.31, 4.2 to 4.6; tables as GitHub writes them)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

# Right after the mark of a list's item too.
FENCE: Final = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^`]*)$")
ATX: Final = re.compile(r"^ {0,3}(#{1,6})(?=[ \t]|$)")
UNDERLINE: Final = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
RULE: Final = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
CELL_RULE: Final = re.compile(r":?-+:?")
ITEM: Final = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*")
QUOTE: Final = re.compile(r"^ {0,3}>[ \t]?")
HTML_TABLE: Final = re.compile(r"^\s*<table[\s>]", re.IGNORECASE)
HTML_TABLE_END: Final = re.compile(r"</table\s*>", re.IGNORECASE)
CODE_INDENT: Final = re.compile(r"^(?: {4}|\t)")
# Deeper lists are read as if they were this deep.
NESTING: Final = 6


@dataclass(frozen=True)
class Block:
    """Lines that belong together: for a heading its `level` from 1; for a table its cells. `text` is as written, with
    the lines of a paragraph or of a list's item joined."""

    kind: Literal["heading", "text", "table", "code", "html"]
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def read_blocks(text: str) -> list[Block]:
    """The blocks of a document in order."""
    reader = BlockReader(text.split("\n"))
    reader.read()
    return reader.blocks


class BlockReader:
    """Goes through the lines once; lines of text wait until what follows says what they are."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.blocks: list[Block] = []
        self._lines = lines
        self._position = 0
        self._waiting: list[str] = []
        self._in_list = False
        self._quoted = False

    def read(self) -> None:
        """Read all lines into `blocks`."""
        takers: tuple[Callable[[str], bool], ...] = (
            self._take_fence,
            self._take_heading,
            self._take_underline,
            self._take_table,
            self._take_html_table,
        )
        while self._position < len(self._lines):
            line = self._unquote(self._lines[self._position])
            self._position += 1
            if not line.strip() or (RULE.match(line) and not (self._waiting and UNDERLINE.match(line))):
                self._end_text()
            elif not any(take(line) for take in takers):
                self._waiting.append(line)
        self._end_text()

    def _unquote(self, line: str) -> str:
        """A line without the mark of a quotation. That mark alone may also end an HTML tag of several lines."""
        marked = bool(QUOTE.match(line))
        is_tag_end = marked and line.strip() == ">" and not self._quoted and bool(self._waiting)
        self._quoted = marked and not is_tag_end
        return QUOTE.sub("", line) if self._quoted else line

    def _take_fence(self, line: str) -> bool:
        fence = FENCE.match(line)
        if fence is None:
            return False
        self._end_text()
        closing = re.compile(rf"^[ \t]*{fence[1][0]}{{{len(fence[1])},}}[ \t]*$")
        code: list[str] = []
        # A quotation's code ends with the quotation.
        while self._position < len(self._lines) and not (self._quoted and not QUOTE.match(self._lines[self._position])):
            following = self._lines[self._position]
            self._position += 1
            text = QUOTE.sub("", following) if self._quoted else following
            if closing.match(text):
                break
            code.append(text)
        self._add(Block("code", "\n".join(code)))
        return True

    def _take_heading(self, line: str) -> bool:
        marks = ATX.match(line)
        if marks is None:
            return False
        self._end_text()
        title = line[marks.end() :].strip()
        unclosed = title.rstrip("#")
        # Marks at the end close a heading when a blank is before them: `# C#` is about C#.
        title = unclosed.rstrip() if unclosed[-1:] in {"", " ", "\t"} else title
        self._add(Block("heading", title, len(marks[1])))
        return True

    def _take_underline(self, line: str) -> bool:
        if not self._waiting or not UNDERLINE.match(line) or ITEM.match(self._waiting[0]):
            return False
        title = " ".join(part.strip() for part in self._waiting)
        self._waiting = []
        self._add(Block("heading", title, 1 if "=" in line else 2))
        return True

    def _take_table(self, line: str) -> bool:
        following = self._lines[self._position] if self._position < len(self._lines) else ""
        header, rule = split_cells(line), split_cells(QUOTE.sub("", following))
        if "|" not in line or len(header) != len(rule) or not all(CELL_RULE.fullmatch(cell) for cell in rule):
            return False
        self._end_text()
        self._position += 1
        rows = [header]
        while self._position < len(self._lines) and "|" in self._lines[self._position]:
            rows.append(split_cells(QUOTE.sub("", self._lines[self._position])))
            self._position += 1
        self._add(Block("table", rows=tuple(rows)))
        return True

    def _take_html_table(self, line: str) -> bool:
        if not HTML_TABLE.match(line):
            return False
        self._end_text()
        self._position -= 1
        taken: list[str] = []
        while self._position < len(self._lines):
            taken.append(self._lines[self._position])
            self._position += 1
            if HTML_TABLE_END.search(taken[-1]):
                break
        self._add(Block("html", "\n".join(taken)))
        return True

    def _end_text(self) -> None:
        """The lines that wait are text, or indented code."""
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        is_list = bool(ITEM.match(lines[0]))
        if not self._in_list and not is_list and all(CODE_INDENT.match(line) for line in lines):
            self.blocks.append(Block("code", "\n".join(CODE_INDENT.sub("", line) for line in lines)))
            return
        # What is indented after a list goes on with its last item.
        self._in_list = is_list or (self._in_list and lines[0][:1] in {" ", "\t"})
        self.blocks.append(Block("text", join_lines(lines)))

    def _add(self, block: Block) -> None:
        self._in_list = False
        self.blocks.append(block)


def join_lines(lines: Sequence[str]) -> str:
    """Lines of text as they are read: broken where an item begins, and where the author broke them on purpose."""
    joined: list[str] = []
    broken = True
    for line in lines:
        if item := ITEM.match(line):
            depth = min(len(item[1].replace("\t", "    ")) // 2, NESTING)
            mark = item[2] if item[2][0].isdigit() else "-"
            joined.append(f"{'  ' * depth}{mark} {line[item.end() :].strip()}")
        elif broken or not joined:
            joined.append(line.strip())
        else:
            joined[-1] += f" {line.strip()}"
        broken = line.endswith(("  ", "\\"))
    return "\n".join(line.removesuffix("\\") for line in joined)


def split_cells(line: str) -> tuple[str, ...]:
    """The cells of a table's line."""
    inner = line.strip().removeprefix("|")
    cells = re.split(r"(?<!\\)\|", inner)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)
