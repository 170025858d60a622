"""Structured criteria as the search functions of migration 0006 take them.

A facet is one thing that is known of a row: its department, one of its skills. Groups are ANDed; inside a group any or
all values must hold. Nothing here reads a row: the same groups always give the same parameter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from psycopg.types.json import Jsonb

from oria_runtime.db.text import clean_text

FacetField = Literal[
    "classification",
    "company",
    "department",
    "employment_type",
    "job_code",
    "kind",
    "language",
    "location",
    "role",
    "skill",
    "work_mode",
]
Operator = Literal["any", "all"]

# Bounds the depth of the query's tree; no request of a person and no tenant's configuration comes near.
MAX_VALUES = 1_000
# More words make a query slower, not better; as many characters as a long message has (CONVENTIONS 2.3, Slack).
MAX_WORDS_CHARACTERS = 4_000


@dataclass(frozen=True)
class FacetGroup:
    """One criterion. Values are compared without regard to case, accents and punctuation."""

    field: FacetField
    operator: Operator
    values: Sequence[str]


def compile_groups(groups: Sequence[FacetGroup]) -> list[dict[str, Any]]:
    """The groups that limit anything, as JSON: blank values, repeated values and empty groups are left out."""
    compiled = []
    for group in groups:
        cleaned = (clean_text(value).strip() for value in group.values)
        values = list(dict.fromkeys(value for value in cleaned if value))[:MAX_VALUES]
        if values:
            compiled.append({"field": group.field, "operator": group.operator, "values": values})
    return compiled


def build_parameters(groups: Sequence[FacetGroup], words: str, excluded: Sequence[str], depth: int) -> dict[str, Any]:
    """What every search function is asked with, in any text that a caller may have."""
    return {
        "groups": Jsonb(compile_groups(groups)),
        "words": clean_text(words)[:MAX_WORDS_CHARACTERS],
        "excluded": [clean_text(row_id) for row_id in excluded],
        "depth": depth,
    }
