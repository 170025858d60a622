"""Mapping free job titles to the tenant's jobs: title against title, alternative titles included.

The similarity is the cosine of two titles' embeddings, so that a threshold means the same for every job, whatever its
description says. A title that a job has, but for case and accents, is that job's with similarity 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oria_runtime.catalog.matching import fetch_matches
from oria_runtime.db.pool import Connection


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

    Arguments and errors are those of `fetch_matches`.
    """
    found = await fetch_matches(connection, MATCH_JOBS_SQL, titles, vectors, model, threshold=threshold, what="titles")
    return [
        JobMatch(title, row["mapped_title"], row["job_code"], row["similarity"]) if row else None
        for title, row in zip(titles, found, strict=True)
    ]
