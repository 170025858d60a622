"""Why each result of a search is shown, in the person's language.

A model may phrase the facts. It sees nothing else: no more of a result, and not the request, whose other wishes it
could take for what was found. A sentence that says more than the facts support is thrown away: the fixed form, which
lists them, stands in for it (seeds/oria_tools.md: rationales describe only supported matches).
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language
from graph.oria.prompts import read_prompt
from graph.oria.tools.clarification import clean
from graph.oria.tools.comparison import contains, unite
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import RATIONALE_CHARACTERS, RATIONALE_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelError

logger = logging.getLogger(__name__)

Name = TypeVar("Name", bound=str)

NUMBER: Final = re.compile(r"\d+")
# What a bare list of the values, which a weak model writes, does not have.
SENTENCE_END: Final = re.compile(r"[.!?…]$")
# Words of level, length and suitability, folded. No match supports one but a fact that has it ("Senior nurse").
CLAIMS: Final = (
    "expert", "experts", "expertise", "senior", "advanced", "proficient", "proficiency", "fluent", "experienced",
    "years", "certified", "perfect", "perfectly", "ideal", "experte", "confirmee", "experimente", "experimentee",
    "maitrise", "couramment", "ans", "annees", "certifie", "certifiee", "parfait", "parfaite", "parfaitement", "ideale",
    "experto", "experta", "avanzado", "avanzada", "dominio", "domina", "anos", "certificado", "certificada", "perfecto",
    "perfecta",
)  # fmt: skip
LINK: Final = re.compile(r"https?:|www\.|\]\(|<\w", re.IGNORECASE)


class Rationale(BaseModel):
    """The text about one numbered result."""

    model_config = ConfigDict(extra="forbid")
    number: int
    text: str = Field(description="One or two short sentences.")


class Rationales(BaseModel):
    """The texts about all of them."""

    model_config = ConfigDict(extra="forbid")
    rationales: list[Rationale]


@dataclass(frozen=True)
class Fact(Generic[Name]):
    """A supported match: what matches, and the values that do, as the catalogue or the profile writes them."""

    name: Name
    values: Sequence[str]


@dataclass(frozen=True)
class Evidence(Generic[Name]):
    """The facts about one result, checked by code, and terms that none of them supports and no sentence may name."""

    facts: Sequence[Fact[Name]]
    unsupported: Sequence[str] = ()


@dataclass(frozen=True)
class Subject:
    """A result as a rationale may speak of it.

    `facts` are the values, as the person reads them, by what they are; `unsupported` are terms that no fact holds and
    no sentence may name; `listed` is the fixed form.
    """

    facts: Mapping[str, Sequence[str]]
    unsupported: Sequence[str]
    listed: str

    @property
    def values(self) -> list[str]:
        return [value for values in self.facts.values() for value in values]


@dataclass(frozen=True)
class Phrasing:
    """The model's task: its `label`, the `prompt`'s name, what the results are called, the `objective` they serve."""

    label: str
    prompt: str
    things: str
    objective: str = ""


async def write_rationales(
    subjects: Sequence[Subject], phrasing: Phrasing, *, models: Models, locale: str
) -> list[str]:
    """One rationale for each subject, in order. Never raises ModelError: the fixed form needs no model."""
    phrased = await phrase_facts(subjects, phrasing, models=models, locale=locale)
    told = unite(value for subject in subjects for value in subject.values)
    return [
        phrased[number] if is_supported(phrased.get(number, ""), subject, told) else subject.listed
        for number, subject in enumerate(subjects, start=1)
    ]


async def phrase_facts(
    subjects: Sequence[Subject], phrasing: Phrasing, *, models: Models, locale: str
) -> dict[int, str]:
    """The model's sentences by number; none for what has no facts, and none at all when the model fails."""
    numbered = [{"number": number, "facts": it.facts} for number, it in enumerate(subjects, start=1) if it.facts]
    if not numbered:
        return {}
    rules = [read_prompt(phrasing.prompt), untrusted_content_policy(), f"Write in {name_language(locale)}."]
    objective = {"objective": phrasing.objective} if phrasing.objective else {}
    data = data_message("Matches", objective | {phrasing.things: numbered})
    try:
        written = await models.structured(
            label=phrasing.label,
            schema=Rationales,
            messages=[SystemMessage("\n\n".join(rules)), data],
            timeout=RATIONALE_SECONDS,
        )
    except ModelError as error:
        logger.warning("rationales unavailable: listing the facts", extra={"error": error.code})
        return {}
    return {rationale.number: clean(rationale.text) for rationale in written.rationales}


def is_supported(text: str, subject: Subject, told: Sequence[str]) -> bool:
    """Whether a sentence names some of the facts and, as far as terms and numbers can tell, nothing beside them.

    `told` are the values of all results: one must not be given what is another's.
    """
    values = subject.values
    others = [value for value in told if not any(contains(own, value) for own in values)]
    claims = [claim for claim in CLAIMS if not any(contains(own, claim) for own in values)]
    numbers = set(NUMBER.findall(text)) - set(NUMBER.findall(" ".join(values)))
    return (
        any(contains(text, value) for value in values)
        and not any(contains(text, term) for term in [*subject.unsupported, *others, *claims])
        and SENTENCE_END.search(text) is not None
        and not numbers
        and not LINK.search(text)
        and len(text) <= RATIONALE_CHARACTERS
    )
