"""Why each opportunity is shown: its evidence in the person's language.

A model may phrase the facts. It sees nothing else of the opportunity, and a sentence that says more than they support
is thrown away: the fixed form, which lists the facts, stands in for it.
"""

import logging
import re
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language, pick_text
from graph.oria.prompts import read_prompt
from graph.oria.tools.clarification import clean
from graph.oria.tools.opportunities.comparison import contains, unite
from graph.oria.tools.opportunities.evidence import Evidence
from graph.oria.tools.opportunities.texts import SUPPORTED, UNSUPPORTED, write_named, write_values
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import OPPORTUNITY_RATIONALE_CHARACTERS, OPPORTUNITY_RATIONALE_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

NUMBER: Final = re.compile(r"\d+")
# What a bare list of the values, which a weak model writes, does not have.
SENTENCE_END: Final = re.compile(r"[.!?…]$")
LINK: Final = re.compile(r"https?:|www\.|\]\(|<\w", re.IGNORECASE)


class Rationale(BaseModel):
    """The sentence about one numbered opportunity."""

    model_config = ConfigDict(extra="forbid")
    number: int
    text: str = Field(description="One or two short sentences to the person.")


class Rationales(BaseModel):
    """The sentences about all of them."""

    model_config = ConfigDict(extra="forbid")
    rationales: list[Rationale]


async def write_rationales(
    evidence: Sequence[Evidence], *, purpose: str, models: Models, locale: str, label: str
) -> list[str]:
    """One rationale for each piece of evidence, in order. Never raises ModelError: the fixed form needs no model.

    `purpose` is the request or the objective, in the person's words.
    """
    phrased = await phrase_facts(evidence, purpose=purpose, models=models, locale=locale, label=label)
    told = unite(value for found in evidence for value in list_values(found, locale))
    return [
        phrased[number] if is_supported(phrased.get(number, ""), found, told, locale) else list_facts(found, locale)
        for number, found in enumerate(evidence, start=1)
    ]


async def phrase_facts(
    evidence: Sequence[Evidence], *, purpose: str, models: Models, locale: str, label: str
) -> dict[int, str]:
    """The model's sentences by number; none for what has no facts, and none at all when the model fails."""
    numbered = [
        {"number": number, "facts": {fact.name: write_values(fact.name, fact.values, locale) for fact in found.facts}}
        for number, found in enumerate(evidence, start=1)
        if found.facts
    ]
    if not numbered:
        return {}
    rules = [
        read_prompt("opportunities/rationales"),
        untrusted_content_policy(),
        f"Write in {name_language(locale)}.",
    ]
    data: dict[str, Any] = {"purpose": purpose, "opportunities": numbered}
    messages = [SystemMessage("\n\n".join(rules)), data_message("Matches", data)]
    try:
        written = await models.structured(
            label=label, schema=Rationales, messages=messages, timeout=OPPORTUNITY_RATIONALE_SECONDS
        )
    except ModelError as error:
        logger.warning("rationales unavailable: listing the facts", extra={"error": error.code})
        return {}
    return {rationale.number: clean(rationale.text) for rationale in written.rationales}


def is_supported(text: str, evidence: Evidence, told: Sequence[str], locale: str) -> bool:
    """Whether a sentence names some of the facts and, as far as terms and numbers can tell, nothing beside them.

    `told` are the values of all opportunities: one must not be given what is another's.
    """
    values = list_values(evidence, locale)
    others = [value for value in told if not any(contains(own, value) for own in values)]
    numbers = set(NUMBER.findall(text)) - set(NUMBER.findall(" ".join(values)))
    return (
        any(contains(text, value) for value in values)
        and not any(contains(text, term) for term in [*evidence.unsupported, *others])
        and SENTENCE_END.search(text) is not None
        and not numbers
        and not LINK.search(text)
        and len(text) <= OPPORTUNITY_RATIONALE_CHARACTERS
    )


def list_values(evidence: Evidence, locale: str) -> list[str]:
    """The values of all facts as the person reads them."""
    return [value for fact in evidence.facts for value in write_values(fact.name, fact.values, locale)]


def list_facts(evidence: Evidence, locale: str) -> str:
    """The facts as they are; without any, that the opportunity was found and no more."""
    if not evidence.facts:
        return pick_text(UNSUPPORTED, locale)
    facts = "; ".join(write_named(fact.name, fact.values, locale) for fact in evidence.facts)
    return pick_text(SUPPORTED, locale).format(facts=facts)
