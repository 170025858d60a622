"""One search: embedding, exclusions, both retrievals and their fusion. The order that comes out is final."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from graph.oria.tools.fusion import FUSION
from graph.oria.tools.training_finder.exclusions import list_excluded
from graph.oria.tools.training_finder.filters import resolve_filters
from graph.oria.tools.training_finder.query import Query
from graph.oria.tools.training_finder.request import TrainingRequest
from graph.policy import (
    EMBEDDING_SECONDS,
    TRAINING_PLAN_RESULTS,
    TRAINING_RESULTS,
)
from oria_runtime.catalog.search import search_trainings
from oria_runtime.catalog.trainings import Training
from oria_runtime.turns.context import TurnContext


async def retrieve(
    request: TrainingRequest, query: Query, messages: Sequence[AnyMessage], context: TurnContext
) -> list[Training]:
    """The trainings for the query, best first. The embedding comes before the transaction, which awaits SQL alone."""
    [vector] = await context.models.embed([query.text], timeout=EMBEDDING_SECONDS)
    async with context.database.transaction() as connection:
        return await search_trainings(
            connection,
            words=query.words,
            vector=vector,
            model=context.models.embedding_model,
            # What only the profile says, such as a job in e-learning, ranks and limits nothing.
            filters=resolve_filters(query.stated, is_plan=request.is_learning_plan),
            excluded=await list_excluded(
                connection, messages, show_more=request.show_more, named=request.exclude_training_ids
            ),
            fusion=FUSION,
            limit=TRAINING_PLAN_RESULTS if request.is_learning_plan else TRAINING_RESULTS,
        )
