"""Finding trainings: lexical and vector retrieval in the database, fused here by weighted reciprocal ranks.

The order is the fusion's alone: no reranker and no model touches it (seeds/oria_tools.md, training_finder_tool). Both
retrievals are SECURITY DEFINER functions that apply the transaction's tenant (DESIGN §7, migration 0003).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from oria_runtime.catalog.facets import build_parameters
from oria_runtime.catalog.fusion import Fusion, fetch_lists, fuse
from oria_runtime.catalog.trainings import Training, read_trainings
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


SEARCH_BY_TEXT_SQL = """
select training_id from search_trainings_by_text(
    %(words)s, %(languages)s::text[], %(levels)s::text[], %(formats)s::text[], %(max_minutes)s::int,
    %(excluded)s::text[], %(depth)s)
"""
SEARCH_BY_VECTOR_SQL = """
select training_id from search_trainings_by_vector(
    %(vector)s::public.vector, %(model)s, %(languages)s::text[], %(levels)s::text[], %(formats)s::text[],
    %(max_minutes)s::int, %(excluded)s::text[], %(depth)s)
"""


async def search_trainings(
    connection: Connection,
    *,
    words: str,
    vector: Sequence[float] | None,
    model: str,
    filters: TrainingFilters,
    excluded: Collection[str],
    fusion: Fusion,
    limit: int,
) -> list[Training]:
    """The tenant's trainings for these words, best first.

    Args:
        connection: a transaction under the tenant's setting.
        words: the query as text. Each row is matched in its own language, so one query serves a mixed catalogue.
        vector: the query's embedding of 512 dimensions by `model`, or None for a lexical search alone.
        excluded: ids that must not come back; `expand_related` adds their parents and children.
    """
    parameters = filters.as_parameters() | build_parameters([], words, list(excluded), fusion.depth)
    queries = [(fusion.lexical_weight, SEARCH_BY_TEXT_SQL, parameters)]
    if vector is not None:
        by_vector = parameters | {"vector": str(list(vector)), "model": model}
        queries.append((fusion.vector_weight, SEARCH_BY_VECTOR_SQL, by_vector))
    found = fuse(await fetch_lists(connection, queries), k=fusion.k)
    return await read_trainings(connection, found[:limit])
