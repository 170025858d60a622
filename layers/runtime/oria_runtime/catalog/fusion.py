"""Weighted reciprocal rank fusion of ranked lists, and the retrieval of one such list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import DictRow

from oria_runtime.db.pool import Connection

Id = TypeVar("Id", str, UUID)


@dataclass(frozen=True)
class Fusion:
    """Weighted reciprocal rank fusion: a row scores the sum of `weight / (k + rank)` over the lists that hold it.

    `depth` is how many rows of each list take part.
    """

    k: int
    lexical_weight: float
    vector_weight: float
    depth: int


def fuse(lists: Sequence[tuple[float, Sequence[Id]]], *, k: int) -> list[Id]:
    """The ids of weighted ranked lists in one order: by fused score, and by id where scores are equal."""
    return list(fuse_scores(lists, k=k))


def fuse_scores(lists: Sequence[tuple[float, Sequence[Id]]], *, k: int) -> dict[Id, float]:
    """The same with their scores."""
    scores: dict[Id, float] = {}
    for weight, ids in lists:
        for rank, row_id in enumerate(ids, start=1):
            scores[row_id] = scores.get(row_id, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


async def fetch_ranked(connection: Connection, query: LiteralString, parameters: Mapping[str, Any]) -> list[str]:
    """The external ids that a search function answers with, best first; its first column holds them."""
    return await read_ranked(await connection.execute(query, parameters))


async def fetch_lists(
    connection: Connection, queries: Sequence[tuple[float, LiteralString, Mapping[str, Any]]]
) -> list[tuple[float, list[str]]]:
    """The lists of several weighted searches, as `fuse` takes them, in one round trip."""
    async with connection.pipeline():
        cursors = [(weight, await connection.execute(query, parameters)) for weight, query, parameters in queries]
    # Fetching inside would flush the pipeline, and its end would be a round trip more.
    return [(weight, await read_ranked(cursor)) for weight, cursor in cursors]


async def read_ranked(cursor: AsyncCursor[DictRow]) -> list[str]:
    return [next(iter(row.values())) for row in await cursor.fetchall()]
