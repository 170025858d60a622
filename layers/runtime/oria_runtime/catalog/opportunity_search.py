"""Finding opportunities: hard filters, then lexical and vector retrieval in the database, fused by reciprocal ranks.

The retrievals are SECURITY DEFINER functions that apply the transaction's tenant (DESIGN §7, migration 0006).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from oria_runtime.catalog.facets import FacetField, FacetGroup, build_parameters
from oria_runtime.catalog.fusion import Fusion, fetch_lists, fetch_ranked, fuse
from oria_runtime.catalog.opportunities import Opportunity, read_opportunities
from oria_runtime.db.pool import Connection

FIELDS: Mapping[str, FacetField] = {
    "kinds": "kind",
    "departments": "department",
    "locations": "location",
    "work_modes": "work_mode",
    "classifications": "classification",
    "employment_types": "employment_type",
    "companies": "company",
    "job_codes": "job_code",
    "languages": "language",
    "skills_any": "skill",
    "skills_all": "skill",
}


@dataclass(frozen=True)
class OpportunityFilters:
    """Hard limits on what may be found; None and an empty list are no limit, what is unknown of a row exceeds a limit.

    Texts are compared without case and accents; a department, location or company also holds when the words asked for
    are part of it ("Lyon" in "Lyon, France"). Skills are codes or labels. `languages` are those of the work.
    `posted_after`: posted on a later day. `open_on`: not closed before that day (no closing day: never).
    """

    kinds: Sequence[str] | None = None
    departments: Sequence[str] | None = None
    locations: Sequence[str] | None = None
    work_modes: Sequence[str] | None = None
    classifications: Sequence[str] | None = None
    employment_types: Sequence[str] | None = None
    companies: Sequence[str] | None = None
    job_codes: Sequence[str] | None = None
    languages: Sequence[str] | None = None
    skills_any: Sequence[str] | None = None
    skills_all: Sequence[str] | None = None
    posted_after: date | None = None
    open_on: date | None = None

    def as_groups(self) -> list[FacetGroup]:
        """The filters on texts; one that has several values holds for any of them, `skills_all` for all."""
        return [
            FacetGroup(field, "all" if name == "skills_all" else "any", values)
            for name, field in FIELDS.items()
            if (values := getattr(self, name))
        ]


NO_FILTERS = OpportunityFilters()

SEARCH_BY_TEXT_SQL = """
select opportunity_id from search_opportunities_by_text(
    %(words)s, %(groups)s, %(posted_after)s::date, %(open_on)s::date, %(excluded)s::text[], %(depth)s)
"""
SEARCH_BY_VECTOR_SQL = """
select opportunity_id from search_opportunities_by_vector(
    %(vector)s::public.vector, %(model)s, %(groups)s, %(posted_after)s::date, %(open_on)s::date,
    %(excluded)s::text[], %(depth)s)
"""
SEARCH_BY_FACETS_SQL = """
select opportunity_id from search_opportunities_by_facets(
    %(groups)s, %(posted_after)s::date, %(open_on)s::date, %(excluded)s::text[], %(depth)s)
"""


async def search_opportunities(
    connection: Connection,
    *,
    words: str,
    vector: Sequence[float] | None,
    model: str,
    filters: OpportunityFilters,
    excluded: Collection[str],
    fusion: Fusion,
    limit: int,
) -> list[Opportunity]:
    """The tenant's active opportunities within the filters, best first.

    Without words and vector: what the filters let through, the latest posting first; nothing where there are no
    filters either.

    Args:
        connection: a transaction under the tenant's setting.
        words: the query as text. Each row is matched in its own language, so one query serves a mixed catalogue.
        vector: the query's embedding of 512 dimensions by `model`, or None for a lexical search alone.
        excluded: ids that must not come back.
    """
    parameters = build_parameters(filters.as_groups(), words, list(excluded), fusion.depth)
    parameters |= {"posted_after": filters.posted_after, "open_on": filters.open_on}
    if vector is None and not words.strip():
        found = await fetch_ranked(connection, SEARCH_BY_FACETS_SQL, parameters) if filters != NO_FILTERS else []
    else:
        queries = [(fusion.lexical_weight, SEARCH_BY_TEXT_SQL, parameters)]
        if vector is not None:
            by_vector = parameters | {"vector": str(list(vector)), "model": model}
            queries.append((fusion.vector_weight, SEARCH_BY_VECTOR_SQL, by_vector))
        found = fuse(await fetch_lists(connection, queries), k=fusion.k)
    return await read_opportunities(connection, found[: max(limit, 0)])
