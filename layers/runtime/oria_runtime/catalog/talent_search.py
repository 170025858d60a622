"""Finding people: structured criteria say who may be found, words and a vector say in which order.

Criteria compile without a model (seeds/oria_tools.md, talent_finder_tool); the retrievals are SECURITY DEFINER
functions that apply the transaction's tenant (DESIGN §7, migration 0006).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from oria_runtime.catalog.facets import FacetField, FacetGroup, Operator, build_parameters, compile_groups
from oria_runtime.catalog.fusion import Fusion, fetch_lists, fetch_ranked, fuse
from oria_runtime.catalog.people import Experience, ProfileSkill
from oria_runtime.db.pool import Connection

CriterionField = Literal["classification", "location", "work_mode", "skill", "role", "employer", "department"]

FIELDS: Mapping[CriterionField, FacetField] = {
    "classification": "classification",
    "location": "location",
    "work_mode": "work_mode",
    "skill": "skill",
    "role": "role",
    "employer": "company",
    "department": "department",
}


@dataclass(frozen=True)
class Criterion:
    """A person meets it when any, or all, of the values hold.

    Texts are compared without case and accents. A classification, work mode or skill (code or label) must be the value;
    a role, employer, department or location may also hold it as a part ("analyst" in "Senior data analyst"). Roles are
    the job title and the titles of experiences, employers the companies of experiences.
    """

    field: CriterionField
    operator: Operator
    values: Sequence[str]


class Candidate(BaseModel):
    """A person who was found, as far as a search may show. `person_id` is the external id."""

    model_config = ConfigDict(frozen=True)
    person_id: str
    first_name: str = ""
    last_name: str = ""
    job_title: str | None = None
    department: str | None = None
    classification: str | None = None
    location: str | None = None
    work_mode: str | None = None
    skills: tuple[ProfileSkill, ...] = ()
    experiences: tuple[Experience, ...] = ()


SEARCH_BY_TEXT_SQL = """
select person_id from search_people_by_text(%(words)s, %(groups)s, %(excluded)s::text[], %(depth)s)
"""
SEARCH_BY_VECTOR_SQL = """
select person_id from search_people_by_vector(
    %(vector)s::public.vector, %(model)s, %(groups)s, %(excluded)s::text[], %(depth)s)
"""
SEARCH_BY_FACETS_SQL = "select person_id from search_people_by_facets(%(groups)s, %(excluded)s::text[], %(depth)s)"

# As for jobs, the library's label of a skill wins over the one that the profile was imported with.
READ_CANDIDATES_SQL = """
select person.external_id as person_id, first_name, last_name, job_title, department, classification, location,
       work_mode, coalesce(profile -> 'experiences', '[]') as experiences, (
           select coalesce(jsonb_agg(item || jsonb_build_object(
               'label', coalesce(skill.label, nullif(item ->> 'label', ''), item ->> 'code')) order by number), '[]')
           from jsonb_array_elements(person.profile -> 'skills') with ordinality as listed (item, number)
           left join skills skill on skill.tenant_id = person.tenant_id and skill.external_id = item ->> 'code'
       ) as skills
from unnest(%s::text[]) with ordinality as wanted (external_id, position)
join people person using (external_id)
where person.tenant_id = current_setting('app.tenant')::uuid and person.active
order by position
"""


async def search_people(
    connection: Connection,
    *,
    criteria: Sequence[Criterion],
    words: str,
    vector: Sequence[float] | None,
    model: str,
    excluded: Collection[str],
    fusion: Fusion,
    limit: int,
) -> list[Candidate]:
    """The tenant's active people who meet every criterion, best first.

    People who meet the criteria, but whom neither words nor vector rank, follow in the order of their ids; without any
    criterion only those are found whom words or vector rank.

    Args:
        connection: a transaction under the tenant's setting.
        words: the query as text, matched in each person's language.
        vector: the query's embedding of 512 dimensions by `model`, or None.
        excluded: external ids that must not come back, the asking person's among them.
    """
    groups = as_groups(criteria)
    parameters = build_parameters(groups, words, list(excluded), fusion.depth)
    queries = []
    if words.strip():
        queries.append((fusion.lexical_weight, SEARCH_BY_TEXT_SQL, parameters))
    if vector is not None:
        by_vector = parameters | {"vector": str(list(vector)), "model": model}
        queries.append((fusion.vector_weight, SEARCH_BY_VECTOR_SQL, by_vector))
    found = fuse(await fetch_lists(connection, queries), k=fusion.k)
    if compile_groups(groups) and len(found) < limit:
        found = list(dict.fromkeys([*found, *await fetch_ranked(connection, SEARCH_BY_FACETS_SQL, parameters)]))
    return await read_candidates(connection, found[: max(limit, 0)])


def as_groups(criteria: Sequence[Criterion]) -> list[FacetGroup]:
    """The criteria under the names of the search functions."""
    return [FacetGroup(FIELDS[each.field], each.operator, each.values) for each in criteria]


async def read_candidates(connection: Connection, person_ids: Sequence[str]) -> list[Candidate]:
    """The active people with these ids, in the caller's order; unknown ones are left out, repeated ones come once."""
    cursor = await connection.execute(READ_CANDIDATES_SQL, (list(dict.fromkeys(person_ids)),))
    return [Candidate.model_validate(row) for row in await cursor.fetchall()]
