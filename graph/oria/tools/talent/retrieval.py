"""One search for people: skills mapped to the library, embedding, both retrievals and their fusion."""

from collections.abc import Collection, Sequence

from graph.oria.tools.embeddings import embed_if_possible
from graph.oria.tools.fusion import FUSION
from graph.oria.tools.skill_labels import clean_labels, match_labels
from graph.oria.tools.talent.intent import TalentSearchIntent, compile_criteria, list_skills
from graph.oria.tools.talent.query import bound_query, list_words
from graph.policy import (
    EMBEDDING_SECONDS,
    TALENT_RESULTS,
)
from oria_runtime.catalog.talent_search import Candidate, Criterion, search_people
from oria_runtime.turns.context import TurnContext


async def retrieve(
    query: str, intent: TalentSearchIntent, *, excluded: Collection[str], context: TurnContext
) -> tuple[list[Criterion], list[Candidate]]:
    """The criteria as they were searched, skills as the library's codes, and the people who meet every one, best first.

    Nobody else stands in for them. One request embeds the query and the labels of skills; it comes before the
    transaction, which awaits SQL alone. Raises ModelError.
    """
    text, labels, model = bound_query(query), clean_labels(list_skills(intent)), context.models.embedding_model
    vector, label_vectors = await embed(text, labels, context)
    async with context.database.transaction() as connection:
        matches = await match_labels(connection, labels, label_vectors, model)
        criteria = compile_criteria(intent, {match.label: match.code for match in matches if match})
        candidates = await search_people(
            connection,
            criteria=criteria,
            words=list_words(text),
            vector=vector,
            model=model,
            excluded=excluded,
            fusion=FUSION,
            limit=TALENT_RESULTS,
        )
    return criteria, candidates


async def embed(
    text: str, labels: Sequence[str], context: TurnContext
) -> tuple[list[float] | None, list[list[float]] | None]:
    """The vectors of the query, None for an empty one, and of the labels. Raises ModelError where there is a query."""
    if not text:
        return None, await embed_if_possible(labels, "skill labels", context)
    vector, *label_vectors = await context.models.embed([text, *labels], timeout=EMBEDDING_SECONDS)
    return vector, label_vectors
