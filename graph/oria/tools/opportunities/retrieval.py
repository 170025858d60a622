"""One search: embedding, filters, both retrievals, their fusion, and the profile's share in the order."""

from collections.abc import Collection
from dataclasses import replace

from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria
from graph.oria.tools.opportunities.limits import Limits, build_filters
from graph.oria.tools.opportunities.query import Query
from graph.oria.tools.opportunities.ranking import rank_by_profile
from graph.policy import (
    OPPORTUNITY_CANDIDATES,
    OPPORTUNITY_FUSION_K,
    OPPORTUNITY_LEXICAL_WEIGHT,
    OPPORTUNITY_RESULTS,
    OPPORTUNITY_VECTOR_WEIGHT,
)
from oria_runtime.catalog.fusion import Fusion
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.opportunity_search import OpportunityFilters, search_opportunities
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.skill_search import match_skills
from oria_runtime.db.pool import Connection
from oria_runtime.turns.context import TurnContext

FUSION = Fusion(
    k=OPPORTUNITY_FUSION_K,
    lexical_weight=OPPORTUNITY_LEXICAL_WEIGHT,
    vector_weight=OPPORTUNITY_VECTOR_WEIGHT,
    depth=OPPORTUNITY_CANDIDATES,
)
SAME_LABEL = 1.0


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
    vector = next(iter(await context.models.embed([query.text] if query.text else [])), None)
    async with context.database.transaction() as connection:
        found = await search_opportunities(
            connection,
            words=query.words,
            vector=vector,
            model=context.models.embedding_model,
            filters=await map_skill_filters(connection, filters, context.models.embedding_model),
            excluded=excluded,
            fusion=FUSION,
            limit=OPPORTUNITY_CANDIDATES,
        )
    return rank_by_profile(found, profile)[:OPPORTUNITY_RESULTS]


async def map_skill_filters(connection: Connection, filters: OpportunityFilters, model: str) -> OpportunityFilters:
    """The filters with the library's codes for skills whose labels or alternative labels are these.

    Other labels stay as they are, and match only an opportunity that writes them so. Nearness of meaning maps nothing
    here: a filter must not guess.
    """
    labels = [*(filters.skills_any or ()), *(filters.skills_all or ())]
    if not labels:
        return filters
    matches = await match_skills(connection, labels, None, model, threshold=SAME_LABEL)
    codes = [match.code if match else label for label, match in zip(labels, matches, strict=True)]
    border = len(filters.skills_any or ())
    return replace(filters, skills_any=codes[:border], skills_all=codes[border:])
