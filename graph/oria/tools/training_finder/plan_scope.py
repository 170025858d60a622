"""Whether a learning plan has enough scope to be built, and what to ask when it has not.

A model with native decisions answers five independent predicates, and questions are generated only when some are
needed. Other models judge and write in one structured answer. The application alone decides what follows: two known
dimensions or an explicit wish to skip allow the plan.
"""

from collections.abc import Collection, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.oria.prompts import read_sections
from graph.oria.tools.clarification import WrittenQuestion, build_question
from graph.oria.tools.training_finder.check import FOLDER, Check
from graph.policy import LIKELY, PLAN_KNOWN_DIMENSIONS, PLAN_QUESTIONS, SCOPE_SECONDS
from oria_runtime.turns.models import Question

Dimension = Literal["target", "background", "time", "preferences"]
# In the order in which missing ones are asked for.
DIMENSIONS: Final[tuple[Dimension, ...]] = ("target", "background", "time", "preferences")
SKIP: Final = "skip"

SCOPE_LABEL: Final = "training_finder.scope"
QUESTIONS_LABEL: Final = "training_finder.questions"


class DimensionQuestion(WrittenQuestion):
    """A question about one missing dimension."""

    dimension: Dimension


class PlanQuestions(BaseModel):
    """The questions for a plan that lacks scope."""

    model_config = ConfigDict(extra="forbid")
    questions: list[DimensionQuestion] = Field(description="At most one question for each missing dimension.")


class PlanScope(PlanQuestions):
    """The judgement and the questions in one answer."""

    target_known: bool
    background_known: bool
    time_known: bool
    preferences_known: bool
    skip_requested: bool


async def find_plan_questions(check: Check) -> list[Question]:
    """The questions that the plan needs first, at most three; none when it may be built. Raises ModelError."""
    return await ask_natively(check) if check.native else await ask_combined(check)


async def ask_natively(check: Check) -> list[Question]:
    """Predicates first; the writer is given only the first three missing dimensions."""
    from langchain_openai.decisions import Predicate, PredicateAnswer

    answers = await check.models.decide(
        label=SCOPE_LABEL,
        input=dict(check.evidence),
        questions={name: Predicate(instructions=text) for name, text in read_sections(f"{FOLDER}/plan_scope").items()},
        timeout=SCOPE_SECONDS,
    )
    likely = {
        name for name, answer in answers.items() if isinstance(answer, PredicateAnswer) and answer.probability >= LIKELY
    }
    missing = list_missing(likely, skip=SKIP in likely)[:PLAN_QUESTIONS]
    if not missing:
        return []
    prompts = ("plan_questions", "question_rules")
    written = await check.generate(PlanQuestions, QUESTIONS_LABEL, *prompts, missing_dimensions=missing)
    return order_questions(written.questions, missing)


async def ask_combined(check: Check) -> list[Question]:
    """Judgement and questions of one structured answer."""
    prompts = ("plan_combined", "plan_scope", "plan_questions", "question_rules")
    scope = await check.generate(PlanScope, SCOPE_LABEL, *prompts)
    known = {name for name in DIMENSIONS if getattr(scope, f"{name}_known")}
    return order_questions(scope.questions, list_missing(known, skip=scope.skip_requested))


def list_missing(known: Collection[str], *, skip: bool) -> list[Dimension]:
    """The missing dimensions in order, or none when the plan may be built as it is."""
    missing = [dimension for dimension in DIMENSIONS if dimension not in known]
    enough = len(DIMENSIONS) - len(missing) >= PLAN_KNOWN_DIMENSIONS
    return [] if skip or enough else missing


def order_questions(written: Sequence[DimensionQuestion], missing: Sequence[Dimension]) -> list[Question]:
    """The first usable question for each missing dimension, in order, at most three. Fewer are fine."""
    found: dict[str, Question] = {}
    for candidate in written:
        if candidate.dimension not in found and (question := build_question(candidate.dimension, candidate)):
            found[candidate.dimension] = question
    return [found[dimension] for dimension in missing if dimension in found][:PLAN_QUESTIONS]
