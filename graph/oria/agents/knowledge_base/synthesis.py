"""The one synthesis: an answer that cites what was read, or that there is none. Code checks the citations."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field, create_model

from graph.oria.agents import KNOWLEDGE_BASE
from graph.oria.agents.prompting import read_text
from graph.oria.language import name_language
from graph.oria.tools.knowledge.evidence import Evidence
from graph.oria.tools.knowledge.research import Research
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import KNOWLEDGE_ANSWER_TOKENS
from oria_runtime.db.text import clean_text
from oria_runtime.models.prompts import write_prompt

LABEL = "knowledge_base.synthesis"
MARKS = re.compile(r"\s*[\[(【]\s*(e\d+(?:\s*[,;]\s*e\d+)*)\s*[])】]")


class Synthesis(BaseModel):
    """What the model answers; `citations` are ids of evidence."""

    status: Literal["supported", "miss"] = Field(description="`supported` only if the evidence itself answers.")
    answer: str = Field(description="The answer, as the person will read it; empty for a miss.")
    citations: list[str] = Field(description="The evidence that the answer rests on.")


@dataclass(frozen=True)
class Answer:
    """A supported answer and the evidence that it cites, in the order of citing."""

    text: str
    cited: Sequence[Evidence]

    def list_sources(self) -> list[dict[str, str]]:
        """What the person sees beside the answer: each place once."""
        return [dict(pairs) for pairs in dict.fromkeys(tuple(each.as_source().items()) for each in self.cited)]


async def synthesize(research: Research, request: HumanMessage, seconds: float) -> Answer | None:
    """The answer that the evidence supports, or None. Raises ModelError."""
    evidence = list(research.evidence)
    if not evidence:
        return None
    context = research.context
    lines = [f"Write in {name_language(context.turn.locale)}.", f"Today is {context.now.date().isoformat()}."]
    about = "\n".join(["This request:", *(f"- {line}" for line in lines)])
    rules = write_prompt(f"{read_text('knowledge_base/synthesis.md')}\n\n{untrusted_content_policy()}", about)
    answered = await context.models.structured(
        label=LABEL,
        schema=build_schema([each.id for each in evidence]),
        messages=[rules, request, data_message("Evidence", [each.as_json() for each in evidence])],
        timeout=seconds,
        profile=KNOWLEDGE_BASE.profile,
        max_tokens=KNOWLEDGE_ANSWER_TOKENS,
    )
    return check(answered, evidence)


def build_schema(ids: Sequence[str]) -> type[Synthesis]:
    """The schema with the ids that can be cited: they bind providers that keep to schemas, `check` binds the others."""
    cited = cast("type", list[Annotated[str, Field(json_schema_extra={"enum": list(ids)})]])
    described = Field(description=Synthesis.model_fields["citations"].description)
    return create_model("Synthesis", __base__=Synthesis, citations=(cited, described))


def check(answered: Synthesis, evidence: Sequence[Evidence]) -> Answer | None:
    """The answer if it cites something, and nothing but what was read; a claim without that is a miss."""
    known = {each.id: each for each in evidence}
    text = drop_marks(clean_text(answered.answer), known).strip()
    cited = dict.fromkeys(answered.citations)
    if answered.status != "supported" or not text or not cited or not known.keys() >= cited.keys():
        return None
    return Answer(text, [known[each] for each in cited])


def drop_marks(text: str, known: Collection[str]) -> str:
    """The text without marks such as [e1], which models put behind sentences: they mean nothing to the person."""

    def drop(marks: re.Match[str]) -> str:
        return "" if set(re.findall(r"e\d+", marks[1])) <= set(known) else marks[0]

    return MARKS.sub(drop, text)
