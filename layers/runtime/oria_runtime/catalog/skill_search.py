"""Mapping free skill labels to the tenant's skill library: an equal label first, the closest embedding else."""

from collections.abc import Sequence
from dataclasses import dataclass

from oria_runtime.catalog.matching import fetch_matches
from oria_runtime.db.pool import Connection


@dataclass(frozen=True)
class SkillMatch:
    """The closest skill of a label. `similarity` is 1 where a label or alternative label of the skill is the same."""

    label: str
    mapped_label: str
    code: str
    similarity: float


MATCH_SKILLS_SQL = """
select asked.position, found.mapped_label, found.code, found.similarity
from unnest(%s::text[], %s::text[]) with ordinality as asked (label, vector, position)
cross join lateral match_skill(asked.label, asked.vector::public.vector, %s) as found
where found.similarity >= %s
"""


async def match_skills(
    connection: Connection,
    labels: Sequence[str],
    vectors: Sequence[Sequence[float]] | None,
    model: str,
    *,
    threshold: float,
) -> list[SkillMatch | None]:
    """The best active skill of each label, or None where none reaches the threshold (a cosine, from -1 to 1).

    A label or alternative label that is equal but for case, accents and punctuation wins over every vector.

    Arguments and errors are those of `fetch_matches`.
    """
    found = await fetch_matches(
        connection, MATCH_SKILLS_SQL, labels, vectors, model, threshold=threshold, what="labels"
    )
    return [
        SkillMatch(label, row["mapped_label"], row["code"], row["similarity"]) if row else None
        for label, row in zip(labels, found, strict=True)
    ]
