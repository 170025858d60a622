"""Free skill labels and the skills of the tenant's library that they mean."""

import logging
from collections.abc import Sequence

from graph.oria.tools.clarification import clean
from oria_runtime.catalog.skill_search import SkillMatch, match_skills
from oria_runtime.catalog.skill_thresholds import find_skill_threshold
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)


async def map_labels(labels: Sequence[str], context: TurnContext) -> list[SkillMatch | None]:
    """The best skill of each label that says anything, in order, or None where none is close enough.

    Without embeddings, labels that are equal to one of the library are found all the same.
    """
    cleaned = [text for label in labels if (text := clean(label))]
    if not cleaned:
        return []
    model = context.models.embedding_model
    vectors = None
    try:
        vectors = await context.models.embed(cleaned)
    except ModelError as error:
        logger.warning("skill labels not embedded: equal labels only", extra={"error": error.code})
    async with context.database.transaction() as connection:
        return await match_skills(connection, cleaned, vectors, model, threshold=find_skill_threshold(model))
