"""Whether a search can be interpreted at all, and the one question to ask when it cannot."""

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.prompts import read_prompt, read_sections
from graph.oria.tools.clarification import WrittenQuestion, build_question
from graph.oria.tools.training_finder.check import FOLDER, Check
from graph.oria.tools.training_finder.plan_scope import QUESTIONS_LABEL
from graph.oria.untrusted import untrusted_content_policy
from graph.policy import SCOPE_SECONDS, SEARCH_QUESTIONS
from oria_runtime.turns.models import Question

SEARCH_LABEL: Final = "training_finder.search_or_clarify"
PROMPT: Final = "search_or_clarify"


class SearchQuestions(BaseModel):
    """The question for a search that cannot be interpreted."""

    model_config = ConfigDict(extra="forbid")
    questions: list[WrittenQuestion] = Field(description="One question, or none when a search is possible after all.")


class SearchScope(SearchQuestions):
    """The judgement and the question in one answer, for models without native decisions."""

    action: Literal["search", "clarify"]


async def find_search_questions(check: Check) -> list[Question]:
    """The question that an uninterpretable search needs; none otherwise. Raises ModelError."""
    if not check.native:
        scope = await check.generate(SearchScope, SEARCH_LABEL, PROMPT, "question_rules")
        return build_questions(scope.questions) if scope.action == "clarify" else []
    action = await check.models.choose(
        label=SEARCH_LABEL,
        name="action",
        instructions=f"{read_prompt(f'{FOLDER}/{PROMPT}')}\n\n{untrusted_content_policy()}",
        choices=read_sections(f"{FOLDER}/{PROMPT}"),
        evidence=check.evidence,
        timeout=SCOPE_SECONDS,
    )
    if action == "search":
        return []
    written = await check.generate(SearchQuestions, QUESTIONS_LABEL, "search_question", "question_rules")
    return build_questions(written.questions)


def build_questions(written: Sequence[WrittenQuestion]) -> list[Question]:
    """The usable questions with their ids, no more than a search may ask."""
    built = (build_question(f"q{number}", question) for number, question in enumerate(written, start=1))
    return [question for question in built if question is not None][:SEARCH_QUESTIONS]
