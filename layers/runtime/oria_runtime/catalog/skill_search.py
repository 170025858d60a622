"""Mapping free skill labels to the tenant's skill library: an equal label first, the closest embedding else."""

from collections.abc import Sequence
from dataclasses import dataclass

from oria_runtime.catalog.facets import MAX_WORDS_CHARACTERS
from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_text


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

    Args:
        connection: a transaction under the tenant's setting.
        vectors: the labels' embeddings of 512 dimensions by `model`, one per label; None for equal labels alone.

    Raises ValueError when there are not as many vectors as labels.
    """
    if vectors is not None and len(vectors) != len(labels):
        raise ValueError(f"{len(labels)} labels, but {len(vectors)} vectors")
    asked = [clean_text(label)[:MAX_WORDS_CHARACTERS] for label in labels]
    literals = [None] * len(labels) if vectors is None else [str(list(vector)) for vector in vectors]
    cursor = await connection.execute(MATCH_SKILLS_SQL, (asked, literals, model, threshold))
    found = {row["position"]: row for row in await cursor.fetchall()}
    return [
        SkillMatch(label, row["mapped_label"], row["code"], row["similarity"]) if (row := found.get(number)) else None
        for number, label in enumerate(labels, start=1)
    ]
