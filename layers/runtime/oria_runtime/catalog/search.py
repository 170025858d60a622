"""Finding trainings: lexical and vector retrieval in the database, fused here by weighted reciprocal ranks.

The order is the fusion's alone: no reranker and no model touches it (seeds/oria_tools.md, training_finder_tool). Both
retrievals are SECURITY DEFINER functions that apply the transaction's tenant (DESIGN §7, migration 0003).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

from oria_runtime.db.pool import Connection


@dataclass(frozen=True)
class TrainingFilters:
    """Hard limits on what may be found; None is no limit. A training of unknown duration exceeds every maximum."""

    languages: Sequence[str] | None = None
    levels: Sequence[str] | None = None
    formats: Sequence[str] | None = None
    max_minutes: int | None = None

    def as_parameters(self) -> dict[str, Any]:
        """The arguments of the SQL functions."""
        return {
            "languages": list(self.languages) if self.languages else None,
            "levels": list(self.levels) if self.levels else None,
            "formats": list(self.formats) if self.formats else None,
            "max_minutes": self.max_minutes,
        }


@dataclass(frozen=True)
class Fusion:
    """Weighted reciprocal rank fusion: a row scores the sum of `weight / (k + rank)` over the lists that hold it."""

    k: int
    lexical_weight: float
    vector_weight: float
    depth: int


@dataclass(frozen=True)
class FoundTraining:
    """A training as a card shows it. `id` is the customer's own id; `duration_minutes` None: unknown."""

    id: str
    language: str
    title: str
    description: str = ""
    provider: str | None = None
    duration_minutes: int | None = None
    level: str | None = None
    format: str | None = None
    skills: Sequence[str] = field(default_factory=tuple)
    url: str | None = None
    price: Decimal | None = None
    currency: str | None = None

    def as_card_item(self) -> dict[str, Any]:
        """JSON of one item of a training card."""
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "language": self.language,
            "provider": self.provider,
            "duration_minutes": self.duration_minutes,
            "level": self.level,
            "format": self.format,
            "skills": list(self.skills),
            "url": self.url,
            "price": None if self.price is None else str(self.price),
            "currency": self.currency,
        }


SEARCH_BY_TEXT_SQL = """
select id from search_trainings_by_text(
    %(words)s, %(languages)s::text[], %(levels)s::text[], %(formats)s::text[], %(max_minutes)s::int,
    %(excluded)s::uuid[], %(depth)s)
"""
SEARCH_BY_VECTOR_SQL = """
select id from search_trainings_by_vector(
    %(vector)s::public.vector, %(model)s, %(languages)s::text[], %(levels)s::text[], %(formats)s::text[],
    %(max_minutes)s::int, %(excluded)s::uuid[], %(depth)s)
"""
SELECT_TRAININGS_SQL: LiteralString = """
select id as row_id, external_id as id, language, title, description, provider, duration_minutes, level, format, skills,
       url, price, currency
from trainings
where tenant_id = current_setting('app.tenant')::uuid and active
"""
READ_ROWS_SQL = SELECT_TRAININGS_SQL + " and id = any(%s)"
READ_TRAININGS_SQL = SELECT_TRAININGS_SQL + " and external_id = any(%s)"

# Ancestors and descendants each, not their siblings: a course does not exclude the other courses of its programme.
# `union` ends at a cycle, which no constraint prevents.
RELATED_TRAININGS_SQL = """
with recursive
named as (
    select id from trainings
    where tenant_id = current_setting('app.tenant')::uuid and external_id = any(%s)
),
ancestors as (
    select id from named
    union
    select link.parent_id from training_parents as link join ancestors on link.training_id = ancestors.id
    where link.tenant_id = current_setting('app.tenant')::uuid
),
descendants as (
    select id from named
    union
    select link.training_id from training_parents as link join descendants on link.parent_id = descendants.id
    where link.tenant_id = current_setting('app.tenant')::uuid
)
select id from ancestors union select id from descendants
"""


async def search_trainings(
    connection: Connection,
    *,
    words: str,
    vector: Sequence[float] | None,
    model: str,
    filters: TrainingFilters,
    excluded: Collection[UUID],
    fusion: Fusion,
    limit: int,
) -> list[FoundTraining]:
    """The tenant's trainings for these words, best first.

    Args:
        connection: a transaction under the tenant's setting.
        words: the query as text. Each row is matched in its own language, so one query serves a mixed catalogue.
        vector: the query's embedding of 512 dimensions by `model`, or None for a lexical search alone.
        excluded: row ids that must not come back (see `find_related`).
    """
    parameters = filters.as_parameters() | {"excluded": list(excluded), "depth": fusion.depth}
    lists = [(fusion.lexical_weight, await _ranked(connection, SEARCH_BY_TEXT_SQL, parameters | {"words": words}))]
    if vector is not None:
        by_vector = parameters | {"vector": str(list(vector)), "model": model}
        lists.append((fusion.vector_weight, await _ranked(connection, SEARCH_BY_VECTOR_SQL, by_vector)))
    ordered = fuse(lists, k=fusion.k)[:limit]
    rows = await _read_rows(connection, READ_ROWS_SQL, ordered)
    found = {row.pop("row_id"): row for row in rows}
    return [FoundTraining(**found[row_id]) for row_id in ordered if row_id in found]


def fuse(lists: Sequence[tuple[float, Sequence[UUID]]], *, k: int) -> list[UUID]:
    """The ids of weighted ranked lists in one order: by fused score, and by id where scores are equal."""
    scores: dict[UUID, float] = {}
    for weight, ids in lists:
        for rank, row_id in enumerate(ids, start=1):
            scores[row_id] = scores.get(row_id, 0.0) + weight / (k + rank)
    return sorted(scores, key=lambda row_id: (-scores[row_id], row_id))


async def find_related(connection: Connection, training_ids: Collection[str]) -> set[UUID]:
    """Row ids of these trainings (customer ids), of all that contain them and of all that they contain."""
    if not training_ids:
        return set()
    cursor = await connection.execute(RELATED_TRAININGS_SQL, (list(training_ids),))
    return {row["id"] for row in await cursor.fetchall()}


async def read_trainings(connection: Connection, training_ids: Sequence[str]) -> list[FoundTraining]:
    """The active trainings of these customer ids in the order of the ids; unknown and repeated ids are skipped."""
    rows: dict[str, Mapping[str, Any]] = {}
    for row in await _read_rows(connection, READ_TRAININGS_SQL, list(training_ids)):
        row.pop("row_id")
        rows[row["id"]] = row
    return [FoundTraining(**rows[training_id]) for training_id in dict.fromkeys(training_ids) if training_id in rows]


async def _ranked(connection: Connection, query: LiteralString, parameters: Mapping[str, Any]) -> list[UUID]:
    cursor = await connection.execute(query, parameters)
    return [row["id"] for row in await cursor.fetchall()]


async def _read_rows(connection: Connection, query: LiteralString, ids: Sequence[Any]) -> list[dict[str, Any]]:
    cursor = await connection.execute(query, (list(ids),))
    return await cursor.fetchall()
