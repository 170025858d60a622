"""A file as validated rows. It is read twice, once to check and once to write, so that memory stays constant."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from oria_runtime.catalog.loading.errors import RowError, RowRejectedError
from oria_runtime.catalog.loading.files import FileFormat, Record, load_json, read_records
from oria_runtime.catalog.loading.mapping import SEPARATOR, ColumnMapping, is_list, is_structured, list_columns
from oria_runtime.catalog.loading.rows import Kind, Row

MAX_DEPTH = 12


@dataclass(frozen=True)
class Source:
    """What to read and how."""

    kind: Kind
    path: Path
    file_format: FileFormat
    mapping: ColumnMapping

    def rows(self) -> Iterator[tuple[int, Row | RowRejectedError]]:
        """Row number and row, or why it cannot be taken."""
        for record in read_records(self.path, self.file_format, self.mapping, self.kind):
            if isinstance(record, RowError):
                yield record.row, RowRejectedError([record])
                continue
            try:
                yield record.row, self.build_row(record)
            except RowRejectedError as error:
                yield record.row, error

    def build_row(self, record: Record) -> Row:
        """A record as a row of the kind. Raises RowRejectedError with every column at fault."""
        given = self.mapping.translate(record.values)
        values = {column: self.parse_value(record.row, column, value) for column, value in given.items()}
        if problems := list(find_bad_texts(values)):
            raise RowRejectedError(RowError(record.row, self.mapping.describe(c), reason) for c, reason in problems)
        try:
            return self.kind.row.model_validate(values)
        except ValidationError as error:
            found = error.errors(include_url=False)
            raise RowRejectedError(self.describe(record.row, item) for item in found) from error

    def parse_value(self, row: int, column: str, value: Any) -> Any:
        """A cell that stands for several items, or holds JSON, as what it means."""
        if not isinstance(value, str) or not is_structured(self.kind, column):
            return value
        if value.lstrip().startswith(("[", "{")):
            try:
                return load_json(value)
            except ValueError as error:
                reason = f"is not JSON: {error}"
                raise RowRejectedError([RowError(row, self.mapping.describe(column), reason)]) from error
        if not is_list(self.kind, column) or (self.file_format == "ndjson" and column not in self.mapping.separators):
            return value
        separator = self.mapping.separators.get(column, SEPARATOR)
        return [item.strip() for item in value.split(separator) if item.strip()]

    def describe(self, row: int, item: ErrorDetails) -> RowError:
        """A validation error in the words of the file; the value itself is not shown, it may be personal."""
        column, *inner = (str(part) for part in item["loc"]) if item["loc"] else ("",)
        where = ".".join([self.mapping.describe(column), *inner])
        match item["type"]:
            case "missing":
                return RowError(row, where, "is missing")
            case "extra_forbidden" if not inner:
                return RowError(row, where, f"unknown column; columns of {self.kind.name}: {list_columns(self.kind)}")
            case "value_error":
                return RowError(row, where, str(item["ctx"]["error"]))
        return RowError(row, where, item["msg"])


def find_bad_texts(value: Any, column: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Column and reason of every text that Postgres cannot store: NUL, lone surrogates; and of nesting without end."""
    if depth > MAX_DEPTH:
        yield column, "is nested too deeply"
    elif isinstance(value, str):
        yield from ((column, reason) for reason in judge_text(value))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from find_bad_texts(name, column or name, depth + 1)
            yield from find_bad_texts(inner, column or name, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from find_bad_texts(inner, column, depth + 1)


def judge_text(text: str) -> Iterator[str]:
    """Why Postgres cannot store a text."""
    if "\0" in text:
        yield "contains a NUL character"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        yield "contains half of a surrogate pair"
