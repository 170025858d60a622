"""Free skill labels and the skills of the tenant's library that they mean."""

from collections.abc import Sequence

from graph.oria.tools.clarification import clean
from graph.oria.tools.embeddings import embed_if_possible
from oria_runtime.catalog.matching import find_skill_threshold
from oria_runtime.catalog.skill_search import SkillMatch, match_skills
from oria_runtime.db.pool import Connection
from oria_runtime.turns.context import TurnContext


async def map_labels(labels: Sequence[str], context: TurnContext) -> list[SkillMatch | None]:
    """The best skill of each label that says anything, in order, or None where none is close enough."""
    cleaned = clean_labels(labels)
    if not cleaned:
        return []
    vectors = await embed_if_possible(cleaned, "skill labels", context)
    async with context.database.transaction() as connection:
        return await match_labels(connection, cleaned, vectors, context.models.embedding_model)


def clean_labels(labels: Sequence[str]) -> list[str]:
    """The labels that say anything."""
    return [text for label in labels if (text := clean(label))]


async def match_labels(
    connection: Connection, labels: Sequence[str], vectors: Sequence[Sequence[float]] | None, model: str
) -> list[SkillMatch | None]:
    """`match_skills` with the threshold that fits the embedding model; no query without labels."""
    if not labels:
        return []
    return await match_skills(connection, labels, vectors, model, threshold=find_skill_threshold(model))
