"""One search for people: skills mapped to the library, embedding, both retrievals and their fusion."""

from collections.abc import Collection, Sequence

from graph.oria.tools.talent.intent import TalentSearchIntent, compile_criteria, list_skills
from graph.oria.tools.talent.query import bound_query, list_words
from graph.oria.tools.talent.skills import map_labels
from graph.policy import (
    TALENT_CANDIDATES,
    TALENT_FUSION_K,
    TALENT_LEXICAL_WEIGHT,
    TALENT_RESULTS,
    TALENT_VECTOR_WEIGHT,
)
from oria_runtime.catalog.fusion import Fusion
from oria_runtime.catalog.talent_search import Candidate, Criterion, search_people
from oria_runtime.turns.context import TurnContext

FUSION = Fusion(
    k=TALENT_FUSION_K,
    lexical_weight=TALENT_LEXICAL_WEIGHT,
    vector_weight=TALENT_VECTOR_WEIGHT,
    depth=TALENT_CANDIDATES,
)


async def compile_intent(intent: TalentSearchIntent, context: TurnContext) -> list[Criterion]:
    """The criteria of the search, with the library's codes for the skills that it knows."""
    matches = await map_labels(list_skills(intent), context)
    return compile_criteria(intent, {match.label: match.code for match in matches if match})


async def retrieve(
    query: str, criteria: Sequence[Criterion], *, excluded: Collection[str], context: TurnContext
) -> list[Candidate]:
    """The people who meet every criterion, best first. Nobody else stands in for them. Raises ModelError.

    The embedding comes before the transaction, which awaits SQL alone.
    """
    text = bound_query(query)
    vector = next(iter(await context.models.embed([text] if text else [])), None)
    async with context.database.transaction() as connection:
        return await search_people(
            connection,
            criteria=criteria,
            words=list_words(text),
            vector=vector,
            model=context.models.embedding_model,
            excluded=excluded,
            fusion=FUSION,
            limit=TALENT_RESULTS,
        )
