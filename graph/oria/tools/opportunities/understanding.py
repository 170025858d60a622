"""What a request asks for: whether it is about the person's own profile, and its criteria under a strict schema.

There is no way round a failed step: a search without the criteria that were asked for would be another search.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict, TypeVar

from langchain_core.messages import SystemMessage
from pydantic import BaseModel

from graph.oria.prompts import read_prompt, read_sections
from graph.oria.tools.comparison import unite
from graph.oria.tools.opportunities.criteria import (
    CriteriaUpdate,
    OpportunitySearchCriteria,
    bound_criteria,
    drop_criteria,
    list_used,
    merge_criteria,
)
from graph.oria.tools.opportunities.query import describe_person, list_profile_terms
from graph.oria.tools.skill_labels import map_labels
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import OPPORTUNITY_UNDERSTANDING_SECONDS
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext

INTENT_LABEL: Final = "search_opportunities.intent"
CRITERIA_LABEL: Final = "search_opportunities.criteria"
CHANGE_LABEL: Final = "search_opportunities.change"
RELATIVE: Final = "profile"

Extracted = TypeVar("Extracted", bound=BaseModel)


class Understanding(TypedDict):
    """JSON only: it is cached over a pause. `terms` are facts of the profile that the request is about."""

    criteria: dict[str, Any]
    terms: list[str]


@dataclass(frozen=True)
class Reader:
    """Reads requests with the models of a turn."""

    context: TurnContext

    async def understand(self, request: str, profile: Profile | None) -> Understanding:
        """The criteria of a request. The profile is looked at only when the request is about it. Raises ModelError."""
        relevant = profile if profile and not profile.is_empty and await self.is_relative(request) else None
        evidence = {"request": request, **({"person": describe_person(relevant)} if relevant else {})}
        extracted = await self.extract(OpportunitySearchCriteria, CRITERIA_LABEL, "criteria", evidence)
        criteria = await self.map_skills(bound_criteria(extracted))
        terms = list_profile_terms(relevant) if relevant else []
        return {"criteria": criteria.model_dump(mode="json"), "terms": terms}

    async def is_relative(self, request: str) -> bool:
        """Whether the request can only be served with facts of the person's own profile. Raises ModelError."""
        intent = await self.context.models.choose(
            label=INTENT_LABEL,
            name="intent",
            instructions=f"{read_prompt('opportunities/intent')}\n\n{untrusted_content_policy()}",
            choices=read_sections("opportunities/intent"),
            evidence={"request": request},
            timeout=OPPORTUNITY_UNDERSTANDING_SECONDS,
        )
        return intent == RELATIVE

    async def change(
        self, criteria: OpportunitySearchCriteria, changed: frozenset[str], text: str
    ) -> OpportunitySearchCriteria:
        """The criteria after the person's answer to an empty search. Raises ModelError."""
        kept = drop_criteria(criteria, changed)
        if not text:
            return kept
        so_far = "; ".join(f"{name}: {getattr(kept, name)}" for name in list_used(kept)) or "none"
        given_up = ", ".join(sorted(changed)) or "none"
        evidence = {"request": text, "criteria_so_far": so_far, "given_up": given_up}
        update = await self.extract(CriteriaUpdate, CHANGE_LABEL, "change", evidence)
        return await self.map_skills(merge_criteria(kept, update))

    async def map_skills(self, criteria: OpportunitySearchCriteria) -> OpportunitySearchCriteria:
        """The criteria with the library's labels of the skills that they mean.

        Others stay: such a criterion holds only for what writes it so, and without it the search would be another one.
        """
        matches = await map_labels(criteria.skills, self.context)
        pairs = zip(criteria.skills, matches, strict=True)
        return criteria.model_copy(
            update={"skills": unite(match.mapped_label if match else label for label, match in pairs)}
        )

    async def extract(self, schema: type[Extracted], label: str, prompt: str, evidence: Mapping[str, Any]) -> Extracted:
        rules = [
            *([read_prompt("opportunities/criteria")] if prompt != "criteria" else []),
            read_prompt(f"opportunities/{prompt}"),
            untrusted_content_policy(),
        ]
        messages = [SystemMessage("\n\n".join(rules)), data_message("Opportunity request", dict(evidence))]
        return await self.context.models.structured(
            label=label, schema=schema, messages=messages, timeout=OPPORTUNITY_UNDERSTANDING_SECONDS
        )
