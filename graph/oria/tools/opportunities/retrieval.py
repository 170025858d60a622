"""One search: embedding, filters, both retrievals, their fusion, and the profile's share in the order."""

from collections.abc import Collection

from graph.oria.tools.fusion import FUSION
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria
from graph.oria.tools.opportunities.limits import Limits, build_filters
from graph.oria.tools.opportunities.query import Query
from graph.oria.tools.opportunities.ranking import rank_by_profile
from graph.policy import (
    EMBEDDING_SECONDS,
    FUSION_CANDIDATES,
    OPPORTUNITY_RESULTS,
)
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.opportunity_search import search_opportunities
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext


async def retrieve(
    query: Query,
    criteria: OpportunitySearchCriteria,
    limits: Limits,
    *,
    profile: Profile | None,
    excluded: Collection[str],
    context: TurnContext,
) -> list[Opportunity]:
    """The opportunities within criteria and limits, best first, at most as many as are presented.

    The embedding comes before the transaction, which awaits SQL alone. Raises ModelError.
    """
    filters = build_filters(criteria, limits, context.tenant.config.opportunities, context.now.date())
    if filters is None:
        return []
    vectors = await context.models.embed([query.text] if query.text else [], timeout=EMBEDDING_SECONDS)
    async with context.database.transaction() as connection:
        found = await search_opportunities(
            connection,
            words=query.words,
            vector=next(iter(vectors), None),
            model=context.models.embedding_model,
            filters=filters,
            excluded=excluded,
            fusion=FUSION,
            limit=FUSION_CANDIDATES,
        )
    return rank_by_profile(found, profile)[:OPPORTUNITY_RESULTS]
