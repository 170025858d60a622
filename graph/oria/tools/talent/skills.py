"""Free skill labels and the skills of the tenant's library that they mean."""

import logging
from collections.abc import Sequence

from graph.oria.tools.clarification import clean
from graph.policy import EMBEDDING_SECONDS
from oria_runtime.catalog.skill_search import SkillMatch, match_skills
from oria_runtime.catalog.skill_thresholds import find_skill_threshold
from oria_runtime.db.pool import Connection
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)


async def map_labels(labels: Sequence[str], context: TurnContext) -> list[SkillMatch | None]:
    """The best skill of each label that says anything, in order, or None where none is close enough."""
    cleaned = clean_labels(labels)
    if not cleaned:
        return []
    vectors = await embed_labels(cleaned, context)
    async with context.database.transaction() as connection:
        return await match_labels(connection, cleaned, vectors, context.models.embedding_model)


def clean_labels(labels: Sequence[str]) -> list[str]:
    """The labels that say anything."""
    return [text for label in labels if (text := clean(label))]


async def embed_labels(labels: Sequence[str], context: TurnContext) -> list[list[float]] | None:
    """The vectors of the labels, or None when none can be had: equal labels are found all the same."""
    try:
        return await context.models.embed(labels, timeout=EMBEDDING_SECONDS)
    except ModelError as error:
        logger.warning("skill labels not embedded: equal labels only", extra={"error": error.code})
        return None


async def match_labels(
    connection: Connection, labels: Sequence[str], vectors: Sequence[Sequence[float]] | None, model: str
) -> list[SkillMatch | None]:
    """`match_skills` with the threshold that fits the embedding model; no query without labels."""
    if not labels:
        return []
    return await match_skills(connection, labels, vectors, model, threshold=find_skill_threshold(model))
