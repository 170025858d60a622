"""How a customer's columns become ours: a JSON file beside the data (docs/import.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oria_runtime.catalog.loading.errors import ImportStoppedError
from oria_runtime.catalog.loading.rows import Kind

SEPARATOR = "|"


class ColumnMapping(BaseModel):
    """What a mapping file may say.

    columns: our column → theirs (none: the file uses our names); columns that it does not name are ignored.
    constants: our column → the value where theirs is absent or empty.
    separators: our list column → what separates its items in one cell.
    values: our column → {their value: our value}.
    delimiter: of the CSV file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = Field(default_factory=dict)
    constants: dict[str, Any] = Field(default_factory=dict)
    separators: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, Any]] = Field(default_factory=dict)
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)

    def check(self, kind: Kind) -> None:
        """Raise ImportStoppedError when the mapping names a column that the kind does not have."""
        named = [*self.columns, *self.constants, *self.separators, *self.values]
        unknown = sorted({column for column in named if column not in kind.row.model_fields})
        if unknown:
            raise ImportStoppedError(
                f"the mapping names unknown columns: {', '.join(unknown)}. Columns of {kind.name}: {list_columns(kind)}"
            )

    def theirs(self, column: str) -> str:
        """What the file calls a column of ours."""
        return self.columns.get(column, column)

    def describe(self, column: str) -> str:
        """A column for an error message: our name, and theirs when it is another."""
        theirs = self.theirs(column)
        return column if theirs == column else f"{column} ({theirs})"

    def translate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A record of the file under our names, without empty values."""
        ours = {c: values.get(t) for c, t in self.columns.items()} if self.columns else dict(values)
        given = {column: value for column, value in ours.items() if value is not None and value != ""}
        for column, table in self.values.items():
            if isinstance(value := given.get(column), str) and value in table:
                given[column] = table[value]
        return self.constants | given


def load_mapping(path: Path | None) -> ColumnMapping:
    """The mapping in a file, or the one that changes nothing. Raises ImportStoppedError for an unusable one."""
    if path is None:
        return ColumnMapping()
    try:
        return ColumnMapping.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ImportStoppedError(f"the mapping {path} is not usable: {where}: {first['msg']}") from error


def list_columns(kind: Kind) -> str:
    """The columns of a kind for a message; the required ones carry a star."""
    fields = kind.row.model_fields.items()
    return ", ".join(f"{name}*" if field.is_required() else name for name, field in fields)


def is_list(kind: Kind, column: str) -> bool:
    """Does the column hold several items?"""
    field = kind.row.model_fields.get(column)
    return field is not None and get_origin(field.annotation) is tuple


def is_structured(kind: Kind, column: str) -> bool:
    """Does the column hold items or an object, so that a cell may be JSON?"""
    field = kind.row.model_fields.get(column)
    holds_object = field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    return holds_object or is_list(kind, column)
