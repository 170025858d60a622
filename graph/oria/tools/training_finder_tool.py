"""Finds trainings, and builds learning plans from them; may pause once to ask what a plan or a search needs first.

The node restarts after the pause. What was loaded and decided before it is cached as LangGraph tasks, so neither
profile nor decisions are fetched twice (seeds/oria_tools.md, training_finder_tool).
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.func import task

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.language import pick_text
from graph.oria.tools.clarification import attach_exchange, read_answer, read_question, write_exchange
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.training_cards import build_artifact, build_card, write_lines
from graph.oria.tools.training_finder import texts
from graph.oria.tools.training_finder.check import Check
from graph.oria.tools.training_finder.durations import read_weekly_minutes, read_weeks
from graph.oria.tools.training_finder.phases import build_phases
from graph.oria.tools.training_finder.plan import write_card_plan, write_phase_texts, write_plan
from graph.oria.tools.training_finder.plan_scope import find_plan_questions
from graph.oria.tools.training_finder.preparation import prepare
from graph.oria.tools.training_finder.query import Query, resolve_query
from graph.oria.tools.training_finder.request import Preparation, TrainingRequest, write_evidence
from graph.oria.tools.training_finder.retrieval import retrieve
from graph.oria.tools.training_finder.search_scope import find_search_questions
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.trainings import Training
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Question
from oria_runtime.turns.questions import ask

logger = logging.getLogger(__name__)

NAME: Final = "training_finder_tool"
FAILURE: Final = "Error: the training catalogue could not be searched just now."
NO_REQUEST: Final = "Error: no request was given. Ask what the trainings should be about."
ASK_FIRST: Final = "Not searched yet. Ask the person these questions in your answer, and search when they have replied."

Runtime = ToolRuntime[TurnContext]
Answers = Mapping[str, str]


def build_training_finder_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request; its results are shown to the person directly."""

    @declare_tool(NAME, TrainingRequest)
    async def training_finder(runtime: ToolRuntime[TurnContext], **arguments: Any) -> ToolResult:
        """Find trainings, courses and other ways to learn about a topic, a skill, a role or an objective.

        It also shows more of an earlier search, and builds a learning plan. Results go to the person directly. For a
        plan, call it at once also when details are missing: it finds out what it needs and asks the person itself.
        Never ask for scope before calling it.
        """
        request = TrainingRequest.model_validate(arguments)
        work = find(request, profile, runtime)
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return training_finder


async def find(request: TrainingRequest, profile: Profile | None, runtime: Runtime) -> ToolResult:
    """Prepare, check, ask if needed, search."""
    context, messages = runtime.context, runtime.state["messages"]
    if not request.query.strip():
        # Providers refuse to embed an empty text, which would pass for a failure of the catalogue.
        return fail(NAME, runtime.tool_call_id, NO_REQUEST)

    @task
    async def prepare_once() -> Preparation:
        return await prepare(request, profile, messages, context)

    @task
    async def check_once() -> list[dict[str, Any]]:
        return [question.as_json() for question in await check_request(request, preparation, context)]

    preparation = await prepare_once()
    questions = [read_question(question) for question in await check_once()]
    if questions and not context.turn.interactions:
        return ask_in_words(questions, runtime.tool_call_id or "")
    answers, exchange = ask_person(questions)
    work = search(request, resolve_query(request, preparation, answers), answers, runtime)
    result = await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)
    return attach_exchange(result, exchange)


async def check_request(request: TrainingRequest, preparation: Preparation, context: TurnContext) -> list[Question]:
    """The questions to ask before the search. More of an earlier search, and searches that cannot ask, need no check.

    The checks are optional: a failed one leaves the search available, and no other provider is tried.
    """
    if request.show_more or not (request.is_learning_plan or context.turn.interactions):
        return []
    check = Check(write_evidence(request, preparation), context.models, context.turn.locale)
    try:
        return await (find_plan_questions(check) if request.is_learning_plan else find_search_questions(check))
    except ModelError as error:
        logger.warning("training check unavailable: searching without it", extra={"error": error.code})
        return []


def ask_person(questions: Sequence[Question]) -> tuple[dict[str, str], list[AnyMessage]]:
    """Pause with the questions, if there are any: the answers by question id (empty when skipped), and the exchange."""
    if not questions:
        return {}, []
    answers = ask(questions)
    said = {question.id: read_answer(question, answer) for question, answer in zip(questions, answers, strict=True)}
    return said, write_exchange(questions, answers)


def ask_in_words(questions: Sequence[Question], call_id: str) -> ToolMessage:
    """The conversational form, for callers that cannot show a pause."""
    content = {"status": ASK_FIRST, "questions": [question.text for question in questions]}
    return ToolMessage(encode_data(content), name=NAME, tool_call_id=call_id)


async def search(request: TrainingRequest, query: Query, answers: Answers, runtime: Runtime) -> ToolResult:
    """The results as a card, or the localized miss."""
    context = runtime.context
    trainings = await retrieve(request, query, runtime.state["messages"], context)
    if not trainings:
        miss = pick_text(texts.NO_MORE if request.show_more else texts.MISSES, context.turn.locale)
        return deliver(write_record([], query, runtime), text=miss)
    if request.is_learning_plan:
        return await deliver_plan(request, query, answers, trainings, runtime)
    title = pick_text(texts.MORE_TITLES if request.show_more else texts.FOUND_TITLES, context.turn.locale)
    card = build_card(trainings, title=title, subtitle=query.original, rationaleContext=write_context(query))
    return deliver(write_record(trainings, query, runtime), text=f"{title}\n{write_lines(trainings)}", cards=[card])


async def deliver_plan(
    request: TrainingRequest, query: Query, answers: Answers, trainings: Sequence[Training], runtime: Runtime
) -> ToolResult:
    """The trainings in phases. Their order is the search's."""
    context, locale = runtime.context, runtime.context.turn.locale
    times = [request.plan_duration, answers.get("time", ""), request.query]
    weeks = next((found for text in times if (found := read_weeks(text))), None)
    weekly = next((found for text in [*times[1:], query.text] if (found := read_weekly_minutes(text))), None)
    phases = build_phases(trainings, weeks=weeks, weekly_minutes=weekly)
    planned = [training for phase in phases for training in phase.trainings]
    phase_texts = await write_phase_texts(query.text, phases, context.models, locale)
    title = pick_text(texts.PLAN_TITLES, locale)
    subtitle = pick_text(texts.PLAN_SUBTITLES, locale).format(weeks=phases[-1].end_week, phases=len(phases))
    card = build_card(
        planned,
        title=title,
        subtitle=subtitle,
        rationaleContext=write_context(query),
        learningPlan=write_card_plan(phases, phase_texts),
    )
    text = f"{title}. {subtitle}\n\n{write_plan(phases, phase_texts, locale)}"
    return deliver(write_record(planned, query, runtime), text=text, cards=[card])


def write_record(trainings: Sequence[Training], query: Query, runtime: Runtime) -> ToolMessage:
    """The result as later turns read it; the ids travel in the artifact, which no model sees."""
    content = {"query": query.original, "shown": [training.title for training in trainings]}
    artifact = build_artifact(trainings) if trainings else None
    return ToolMessage(encode_data(content), name=NAME, tool_call_id=runtime.tool_call_id or "", artifact=artifact)


def write_context(query: Query) -> dict[str, str]:
    """What an explanation of one training needs later: the query as asked and as searched."""
    return {"original_query": query.original, "resolved_query": query.text}
