"""Why each candidate is shown: what of their data matches the search, in the person's language.

A model may phrase the facts; it sees nothing else of the candidate, and a sentence that says more than they support is
thrown away for the fixed form. A candidate without facts gets no phrasing at all: only a discussion, or work examples,
could tell, and no model shall guess what they would show (seeds/oria_tools.md, talent_finder_tool).
"""

import logging
from collections.abc import Sequence
from typing import Final

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language, pick_text
from graph.oria.prompts import read_prompt
from graph.oria.tools.clarification import clean
from graph.oria.tools.opportunities.comparison import contains, unite
from graph.oria.tools.opportunities.rationales import LINK, NUMBER
from graph.oria.tools.talent.evidence import Evidence
from graph.oria.tools.talent.texts import SUPPORTED, UNSUPPORTED, write_named, write_values
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import TALENT_RATIONALE_CHARACTERS, TALENT_RATIONALE_SECONDS
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)

LABEL: Final = "talent_finder.rationales"


class TalentRationale(BaseModel):
    """The text about one numbered colleague."""

    model_config = ConfigDict(extra="forbid")
    number: int
    text: str = Field(description="One or two short sentences.")


class TalentRationales(BaseModel):
    """The texts about all of them."""

    model_config = ConfigDict(extra="forbid")
    rationales: list[TalentRationale]


async def write_rationales(evidence: Sequence[Evidence], query: str, context: TurnContext) -> list[str]:
    """One rationale for each piece of evidence, in order. Never raises ModelError: the fixed form needs no model."""
    locale = context.turn.locale
    phrased = await phrase_facts(evidence, query, context)
    told = unite(value for found in evidence for fact in found.facts for value in fact.values)
    return [
        text
        if (text := phrased.get(number, "")) and is_supported(text, found, told, locale)
        else list_facts(found, locale)
        for number, found in enumerate(evidence, start=1)
    ]


async def phrase_facts(evidence: Sequence[Evidence], query: str, context: TurnContext) -> dict[int, str]:
    """The model's sentences by number, for candidates with facts; none when the model fails."""
    locale = context.turn.locale
    colleagues = [
        {"number": number, "facts": {fact.field: write_values(fact.field, fact.values, locale) for fact in found.facts}}
        for number, found in enumerate(evidence, start=1)
        if found.facts
    ]
    if not colleagues:
        return {}
    language = f"Write in {name_language(locale)}."
    system = SystemMessage("\n\n".join([read_prompt("talent/rationales"), untrusted_content_policy(), language]))
    data = data_message("Matches", {"search": query, "colleagues": colleagues})
    try:
        written = await context.models.structured(
            label=LABEL, schema=TalentRationales, messages=[system, data], timeout=TALENT_RATIONALE_SECONDS
        )
    except ModelError as error:
        logger.warning("talent rationales unavailable: listing the facts", extra={"error": error.code})
        return {}
    return {rationale.number: clean(rationale.text) for rationale in written.rationales}


def is_supported(text: str, evidence: Evidence, told: Sequence[str], locale: str) -> bool:
    """Whether a sentence names some of the facts and, as far as terms and numbers can tell, nothing beside them.

    `told` are the values of all candidates: one must not be given what is another's.
    """
    values = [value for fact in evidence.facts for value in write_values(fact.field, fact.values, locale)]
    names_fact = any(contains(text, value) for value in values)
    others = [value for value in told if not any(contains(own, value) for own in values)]
    claims = any(contains(text, term) for term in [*evidence.unsupported, *others])
    numbers = set(NUMBER.findall(text)) - set(NUMBER.findall(" ".join(values)))
    return names_fact and not (claims or numbers or LINK.search(text)) and len(text) <= TALENT_RATIONALE_CHARACTERS


def list_facts(evidence: Evidence, locale: str) -> str:
    """The facts as they are; without any, how to find out."""
    if not evidence.facts:
        return pick_text(UNSUPPORTED, locale)
    facts = "; ".join(write_named(fact.field, fact.values, locale) for fact in evidence.facts)
    return pick_text(SUPPORTED, locale).format(facts=facts)
