"""Mapping free job titles to the tenant's jobs: title against title, alternative titles included.

The similarity is the cosine of two titles' embeddings, so that a threshold means the same for every job, whatever its
description says. A title that a job has, but for case and accents, is that job's with similarity 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oria_runtime.catalog.facets import MAX_WORDS_CHARACTERS
from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_text


@dataclass(frozen=True)
class JobMatch:
    """The closest job of a title. `mapped_title` is the job's own title, also where an alternative one matched."""

    title: str
    mapped_title: str
    job_code: str
    similarity: float


MATCH_JOBS_SQL = """
select asked.position, found.mapped_title, found.job_code, found.similarity
from unnest(%s::text[], %s::text[]) with ordinality as asked (title, vector, position)
cross join lateral match_job(asked.title, asked.vector::public.vector, %s) as found
where found.similarity >= %s
"""


async def match_jobs(
    connection: Connection,
    titles: Sequence[str],
    vectors: Sequence[Sequence[float]] | None,
    model: str,
    *,
    threshold: float,
) -> list[JobMatch | None]:
    """The closest active job of each title, or None where none reaches the threshold (a cosine, from -1 to 1).

    Args:
        connection: a transaction under the tenant's setting.
        vectors: the titles' embeddings of 512 dimensions by `model`, one per title; None for equal titles alone.

    Raises ValueError when there are not as many vectors as titles.
    """
    if vectors is not None and len(vectors) != len(titles):
        raise ValueError(f"{len(titles)} titles, but {len(vectors)} vectors")
    asked = [clean_text(title)[:MAX_WORDS_CHARACTERS] for title in titles]
    literals = [None] * len(titles) if vectors is None else [str(list(vector)) for vector in vectors]
    cursor = await connection.execute(MATCH_JOBS_SQL, (asked, literals, model, threshold))
    found = {row["position"]: row for row in await cursor.fetchall()}
    return [
        JobMatch(title, row["mapped_title"], row["job_code"], row["similarity"]) if (row := found.get(number)) else None
        for number, title in enumerate(titles, start=1)
    ]
