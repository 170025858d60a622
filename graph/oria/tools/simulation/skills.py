"""The catalogue's skills behind the skill names of a practice request."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from graph.oria.tools.clarification import clean
from graph.policy import SIMULATION_SKILL_SIMILARITY, SIMULATION_SKILLS
from oria_runtime.catalog.skill_search import match_skills
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)


class CatalogueSkill(NamedTuple):
    """A skill of the tenant's library."""

    code: str
    label: str


async def map_skills(names: Sequence[str], context: TurnContext) -> list[CatalogueSkill]:
    """The skills of the catalogue that the names mean, each once; a name that none comes close to is left out.

    Without embeddings, names that are equal to a label are found all the same: codes are an addition to a scenario.
    """
    labels = list(dict.fromkeys(label for name in names if (label := clean(name))))[: SIMULATION_SKILLS[1]]
    if not labels:
        return []
    vectors = None
    try:
        vectors = await context.models.embed(labels)
    except ModelError as error:
        logger.warning("no embeddings: skills are matched by their labels", extra={"error": error.code})
    async with context.database.transaction() as connection:
        matches = await match_skills(
            connection, labels, vectors, context.models.embedding_model, threshold=SIMULATION_SKILL_SIMILARITY
        )
    return list(dict.fromkeys(CatalogueSkill(match.code, match.mapped_label) for match in matches if match))
