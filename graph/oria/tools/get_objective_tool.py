"""Finds the one development objective that a request is about, among those of the person's own profile.

Errors leave the tool: LangChain's ToolErrorMiddleware gives them the safe text (`AgentDefinition.errors`; seeds/
oria_orchestration.md, "Recoverable tool failures").
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.func import task
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult
from graph.oria.language import pick_text
from graph.oria.tools.clarification import attach_exchange
from graph.oria.tools.comparison import contains, fold
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.selection import SelectionOption, select_option
from graph.oria.untrusted import encode_data
from graph.policy import EMBEDDING_SECONDS, QUESTION_OPTIONS
from oria_runtime.catalog.people import Objective, Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "get_objective_tool"
FAILURE: Final = "Error: the objectives could not be read just now."
NO_OBJECTIVE: Final = "The person has no such objective: none that is current is recorded in the profile."
NOT_FOUND: Final = "No objective with this title was found: none that is current is recorded in the profile."
NO_ARCHIVED: Final = "The person has no objective: none is recorded in the profile, current or archived."
NONE_CHOSEN: Final = "The person chose none of the objectives. None is chosen, and this request ends here."
SEVERAL: Final = "Several objectives are possible. Ask in your answer which one is meant, and look it up by its title."
QUESTIONS: Final[Mapping[str, str]] = {
    "en": "Which of your objectives do you mean?",
    "fr": "De quel objectif s'agit-il ?",
    "es": "¿A cuál de sus objetivos se refiere?",
}
MANY_QUESTIONS: Final[Mapping[str, str]] = {
    "en": "Which of your objectives do you mean? If it is not among these, skip and give its title.",
    "fr": "De quel objectif s'agit-il ? S'il n'est pas dans la liste, passez la question et donnez son titre.",
    "es": "¿A cuál de sus objetivos se refiere? Si no está aquí, omita la pregunta e indique su título.",
}
ENDINGS: Final[Mapping[str, str]] = {
    "en": "No objective was chosen, so I leave it at that. Tell me when you want to go on with one.",
    "fr": "Aucun objectif n'a été choisi, je m'arrête donc là. Dites-moi quand vous voudrez continuer avec l'un d'eux.",
    "es": "No se ha elegido ningún objetivo, así que lo dejo aquí. Dígame cuándo quiere seguir con uno.",
}

Runtime = ToolRuntime[TurnContext]


class ObjectiveRequest(BaseModel):
    """Arguments of the tool."""

    title: str = Field("", description="Title of the objective, as far as the person named it; empty otherwise.")
    include_archived: bool = Field(False, description="True only when the person asks for archived objectives too.")


def build_objective_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request. It reads only; it may pause, so list it as interrupting."""

    @declare_tool(NAME, ObjectiveRequest)
    async def get_objective(runtime: Runtime, title: str = "", include_archived: bool = False) -> ToolResult:
        """Look up one development objective of the person: its id, description and skills.

        With a single objective no title is needed. When several are possible, it asks the person itself: never guess
        which one is meant. Call it alone.
        """
        given = ObjectiveRequest(title=title, include_archived=include_archived)
        return await find_objective(given, profile, runtime)

    return get_objective


async def find_objective(request: ObjectiveRequest, profile: Profile | None, runtime: Runtime) -> ToolResult:
    """The selected objective as JSON, or why there is none. Raises ModelError."""
    context, call_id = runtime.context, runtime.tool_call_id or ""

    @task
    async def list_once() -> list[dict[str, Any]]:
        return [objective.model_dump(mode="json") for objective in list_objectives(profile, request)]

    candidates = [Objective.model_validate(stored) for stored in await list_once()]
    if not candidates:
        return write_result(explain_absence(request), call_id)
    found = find_certain(candidates, request.title)
    if found is None and context.turn.interactions:
        return ask_person(candidates, request.title, context.turn.locale, call_id)
    if found is None and not request.title.strip():
        titles = [label_candidate(candidate, candidates) for candidate in candidates]
        return write_result(encode_data({"status": SEVERAL, "titles": titles}), call_id)
    return write_objective(found or await find_closest(candidates, request.title, context), call_id)


def list_objectives(profile: Profile | None, request: ObjectiveRequest) -> list[Objective]:
    """The objectives that the request may mean; archived ones only when asked for."""
    objectives = profile.objectives if profile is not None else ()
    return [objective for objective in objectives if request.include_archived or objective.status == "current"]


def explain_absence(request: ObjectiveRequest) -> str:
    """What the model reads when there is nothing to choose from."""
    if request.include_archived:
        return NO_ARCHIVED
    return NOT_FOUND if request.title.strip() else NO_OBJECTIVE


def find_certain(candidates: Sequence[Objective], title: str) -> Objective | None:
    """The sole candidate, or the only one of exactly this title; None when something is to be decided."""
    if len(candidates) == 1:
        return candidates[0]
    named = [candidate for candidate in candidates if fold(title) and fold(candidate.title) == fold(title)]
    return named[0] if len(named) == 1 else None


def ask_person(candidates: Sequence[Objective], title: str, locale: str, call_id: str) -> ToolResult:
    """The candidate that the person selects; those whose title holds the given one are offered first.

    A skip chooses none and ends the request, as for every required selection (seeds/oria_tools.md).
    """
    offered = sorted(candidates, key=lambda candidate: not contains(candidate.title, title))
    options = [
        SelectionOption(str(number), label_candidate(candidate, candidates)) for number, candidate in enumerate(offered)
    ]
    question = MANY_QUESTIONS if len(options) > QUESTION_OPTIONS else QUESTIONS
    selection = select_option(pick_text(question, locale), options)
    if selection.id is None:
        ended = deliver(write_result(NONE_CHOSEN, call_id), text=pick_text(ENDINGS, locale))
        return attach_exchange(ended, selection.exchange)
    return attach_exchange(write_objective(offered[int(selection.id)], call_id), selection.exchange)


def label_candidate(candidate: Objective, candidates: Sequence[Objective]) -> str:
    """The title, with what tells it apart where another objective has the same one."""
    twins = [other for other in candidates if fold(other.title) == fold(candidate.title)]
    if len(twins) == 1:
        return candidate.title
    for read in (read_due, read_description):
        detail = read(candidate)
        if detail and [read(twin) for twin in twins].count(detail) == 1:
            return f"{candidate.title} ({detail})"
    return f"{candidate.title} ({candidate.id})"


def read_due(objective: Objective) -> str:
    return objective.due.isoformat() if objective.due else ""


def read_description(objective: Objective) -> str:
    return objective.description


async def find_closest(candidates: Sequence[Objective], title: str, context: TurnContext) -> Objective:
    """The candidate whose title means most nearly the same, the first of equals. Raises ModelError."""
    texts = [title, *(candidate.title for candidate in candidates)]
    wanted, *vectors = await context.models.embed(texts, timeout=EMBEDDING_SECONDS)
    similarities = [measure_cosine(wanted, vector) for vector in vectors]
    return candidates[similarities.index(max(similarities))]


def measure_cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors, from -1 to 1; 0 when one has no direction."""
    norm = sqrt(sum(value * value for value in left) * sum(value * value for value in right))
    return sum(a * b for a, b in zip(left, right, strict=True)) / norm if norm else 0.0


def write_objective(objective: Objective, call_id: str) -> ToolMessage:
    return write_result(encode_data(objective.model_dump(mode="json")), call_id)


def write_result(content: str, call_id: str) -> ToolMessage:
    return ToolMessage(content, name=NAME, tool_call_id=call_id)
