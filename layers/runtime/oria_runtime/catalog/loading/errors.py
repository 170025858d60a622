"""What can be wrong with an import: single rows (counted, the rest goes on) or the whole of it (it stops)."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TextIO

from oria_runtime.errors import OriaError


class ImportStoppedError(OriaError):
    """The import cannot start or cannot go on; the detail says what to do next."""

    code = "import_stopped"


@dataclass(frozen=True)
class RowError:
    """One thing wrong with one row. Rows are counted as a spreadsheet does: a CSV header is row 1; NDJSON: lines."""

    row: int
    column: str
    reason: str


class RowRejectedError(OriaError):
    """A row cannot be taken; `errors` names every column at fault."""

    code = "row_rejected"

    def __init__(self, errors: Iterable[RowError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"row {e.row}, {e.column}: {e.reason}" for e in self.errors))


@dataclass
class ErrorLog:
    """Counts every rejected row, keeps the first errors to show, and writes all of them to a file if there is one."""

    shown: int = 20
    file: TextIO | None = None
    rows: int = 0
    first: list[RowError] = field(default_factory=list)

    def add(self, errors: Iterable[RowError]) -> None:
        """Record the errors of one row."""
        self.rows += 1
        for error in errors:
            if len(self.first) < self.shown:
                self.first.append(error)
            if self.file is not None:
                self.file.write(json.dumps(asdict(error), ensure_ascii=False) + "\n")
