"""Reading CSV and NDJSON one record at a time, whatever the file's size."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from oria_runtime.catalog.loading.errors import ImportStoppedError, RowError
from oria_runtime.catalog.loading.mapping import ColumnMapping, list_columns
from oria_runtime.catalog.loading.rows import Kind

FileFormat = Literal["csv", "ndjson"]

# Bounds the memory that one record can take; every column's own limit is far smaller.
MAX_LINE_BYTES = 4 * 1024 * 1024
EXTENSIONS: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}


@dataclass(frozen=True)
class Record:
    """One record under the file's own names."""

    row: int
    values: dict[str, Any]


def guess_format(path: Path) -> FileFormat:
    """The format by the file's extension. Raises ImportStoppedError when it tells nothing."""
    try:
        return EXTENSIONS[path.suffix.lower()]
    except KeyError:
        raise ImportStoppedError(
            f"{path.name}: cannot tell the format from the extension; add --format csv or --format ndjson"
        ) from None


def read_records(
    path: Path, file_format: FileFormat, mapping: ColumnMapping, kind: Kind
) -> Iterator[Record | RowError]:
    """The records of a file in order; a record that cannot be read is a RowError.

    Raises ImportStoppedError when nothing after this point can be trusted (encoding, header, broken quoting).
    """
    if file_format == "csv":
        return read_csv(path, mapping, kind)
    return read_ndjson(path)


def read_lines(path: Path) -> Iterator[bytes | None]:
    """The lines of a file with their ends; None for one that is too long."""
    with path.open("rb") as file:
        while raw := file.readline(MAX_LINE_BYTES):
            too_long = False
            while len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                too_long = True
                raw = file.readline(MAX_LINE_BYTES)
            yield None if too_long else raw


def decode_line(raw: bytes, number: int) -> str:
    """A line as text, without a byte order mark. Raises ImportStoppedError when it is not UTF-8."""
    if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportStoppedError("the file is UTF-16: save it as UTF-8 and import it again")
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ImportStoppedError(
            f"line {number} is not UTF-8 (byte 0x{raw[error.start]:02X} at position {error.start + 1}):"
            " save the file as UTF-8 and import it again"
        ) from error


def read_ndjson(path: Path) -> Iterator[Record | RowError]:
    """One JSON object a line; empty lines are passed over but counted."""
    for number, raw in enumerate(read_lines(path), 1):
        if raw is None:
            yield RowError(number, "", f"the line is longer than {MAX_LINE_BYTES:,} bytes")
        elif line := decode_line(raw, number).strip():
            yield parse_object(line, number)


def parse_object(line: str, number: int) -> Record | RowError:
    """A line of NDJSON."""
    try:
        value = load_json(line)
    except ValueError as error:
        return RowError(number, "", f"is not JSON: {error}")
    if not isinstance(value, dict):
        return RowError(number, "", "should be a JSON object")
    return Record(number, value)


def load_json(text: str) -> Any:
    """A JSON value. Raises ValueError, also for NaN, Infinity and nesting beyond what the parser can follow."""
    try:
        return json.loads(text, parse_constant=reject_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def reject_constant(name: str) -> None:
    """NaN and Infinity are Python's extension, not JSON."""
    raise ValueError(f"{name} is no JSON value")


def read_csv(path: Path, mapping: ColumnMapping, kind: Kind) -> Iterator[Record | RowError]:
    """Records under the header's names. Row 1 is the header, as in a spreadsheet."""
    header: list[str] | None = None
    for number, cells in enumerate(parse_csv(path, mapping), 1):
        if header is None:
            header = check_header(cells, mapping, kind)
        elif not cells:
            continue
        elif len(cells) != len(header):
            yield RowError(number, "", f"has {len(cells)} cells, the header has {len(header)}")
        else:
            yield Record(number, dict(zip(header, cells, strict=True)))
    if header is None:
        raise ImportStoppedError(f"{path.name} is empty: its first row must name the columns: {list_columns(kind)}")


def parse_csv(path: Path, mapping: ColumnMapping) -> Iterator[list[str]]:
    """Rows of cells. After broken quoting the borders of rows are unknown, so it stops the import."""
    csv.field_size_limit(MAX_LINE_BYTES)
    lines = decode_csv_lines(path)
    first = next(lines, "")
    delimiter = mapping.delimiter or max(",;\t", key=first.count)
    reader = csv.reader(chain_first(first, lines), delimiter=delimiter, strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise ImportStoppedError(f"line {reader.line_num} is not valid CSV: {error}. Is a quote left open?") from error


def chain_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    """The lines again, with the one that was looked at."""
    if first:
        yield first
    yield from rest


def decode_csv_lines(path: Path) -> Iterator[str]:
    """The lines as text, with their ends, because a quoted cell may span several."""
    for number, raw in enumerate(read_lines(path), 1):
        if raw is None:
            raise ImportStoppedError(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes. Is a quote left open?")
        yield decode_line(raw, number)


def check_header(cells: Sequence[str], mapping: ColumnMapping, kind: Kind) -> list[str]:
    """The file's column names. Raises ImportStoppedError for repeated, unknown and missing ones."""
    header = [cell.strip() for cell in cells]
    fields = kind.row.model_fields
    problems = [f"the column {name!r} comes twice" for name in sorted({n for n in header if header.count(n) > 1})]
    if mapping.columns:
        problems += [
            f"no column {name!r} (the mapping names it)" for name in mapping.columns.values() if name not in header
        ]
    else:
        problems += [f"unknown column {name!r}" for name in header if name not in fields]
    given = set(mapping.columns) or set(header)
    required = [name for name, field in fields.items() if field.is_required()]
    problems += [f"no column {name!r}" for name in required if name not in given | set(mapping.constants)]
    if problems:
        raise ImportStoppedError(
            f"the header does not fit: {'; '.join(problems)}."
            f" Columns of {kind.name} (* required): {list_columns(kind)}."
            " Rename the columns, or describe yours with --mapping FILE.json (docs/import.md)"
        )
    return header
