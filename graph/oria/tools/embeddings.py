"""Embeddings that a tool can do without: equal texts are found all the same."""

import logging
from collections.abc import Sequence

from graph.policy import EMBEDDING_SECONDS
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)


async def embed_if_possible(texts: Sequence[str], what: str, context: TurnContext) -> list[list[float]] | None:
    """The vectors of the texts, or None when none can be had; `what` names the texts in the log."""
    try:
        return await context.models.embed(texts, timeout=EMBEDDING_SECONDS)
    except ModelError as error:
        logger.warning("texts not embedded: equal ones only", extra={"texts": what, "error": error.code})
        return None
