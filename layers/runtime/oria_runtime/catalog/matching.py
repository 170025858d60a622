"""Mapping free texts to the tenant's own entries: jobs by their titles, skills by their labels.

What counts as close enough belongs to the embedding model: each spreads its texts in its own way.
"""

from collections.abc import Mapping, Sequence
from typing import Final, LiteralString

from psycopg.rows import DictRow

from oria_runtime.catalog.facets import MAX_WORDS_CHARACTERS
from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_text
from oria_runtime.tenancy.tenants import EmbeddingConfig

# seeds/oria_tools.md, map_jobs_tool: the only threshold that the seed names; for models that nobody has calibrated.
UNCALIBRATED: Final = 0.91
# Calibrated on ESCO's titles and their alternative labels: evals/job_threshold.py, whose curve a test compares.
JOB_THRESHOLDS: Final[Mapping[str, float]] = {"offline-use-multilingual": 0.8}
# The same way (evals/job_threshold.py --csv) on 378 of ESCO's ICT, language and transversal skills and 2,274
# alternative labels: best F0.5 at 0.85, with precision 0.94 and recall 0.50.
SKILL_THRESHOLDS: Final[Mapping[str, float]] = {"offline-use-multilingual": 0.85}


def find_job_threshold(config: EmbeddingConfig, model: str) -> float:
    """The tenant's own threshold, else the one calibrated for the embedding model, else the seed's."""
    if config.job_threshold is not None:
        return config.job_threshold
    return JOB_THRESHOLDS.get(model, UNCALIBRATED)


def find_skill_threshold(model: str) -> float:
    """The threshold calibrated for the embedding model, else the seed's one of jobs."""
    return SKILL_THRESHOLDS.get(model, UNCALIBRATED)


async def fetch_matches(
    connection: Connection,
    query: LiteralString,
    texts: Sequence[str],
    vectors: Sequence[Sequence[float]] | None,
    model: str,
    *,
    threshold: float,
    what: str,
) -> list[DictRow | None]:
    """The row that `query` finds for each text, or None where none reaches the threshold (a cosine, from -1 to 1).

    Args:
        connection: a transaction under the tenant's setting.
        query: takes texts, vectors, model and threshold; answers with rows by `position`, from 1.
        vectors: the texts' embeddings of 512 dimensions by `model`, one per text; None for equal texts alone.

    Raises ValueError, which calls the texts `what`, when there are not as many vectors as texts.
    """
    if vectors is not None and len(vectors) != len(texts):
        raise ValueError(f"{len(texts)} {what}, but {len(vectors)} vectors")
    asked = [clean_text(text)[:MAX_WORDS_CHARACTERS] for text in texts]
    literals = [None] * len(texts) if vectors is None else [str(list(vector)) for vector in vectors]
    cursor = await connection.execute(query, (asked, literals, model, threshold))
    found = {row["position"]: row for row in await cursor.fetchall()}
    return [found.get(number) for number in range(1, len(texts) + 1)]
