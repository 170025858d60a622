"""Settles which colleague a name means; may pause once so that the person chooses among several.

It reads only. The candidates are a LangGraph task: after the pause the person chooses among those that were shown. A
confirmed person leaves as `selected_person` with the exact id (graph/oria/agents/confirmation.py).
"""

from collections.abc import Sequence
from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.func import task
from langgraph.types import Command
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.interactions import REJECTION
from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.language import pick_text
from graph.oria.state import SelectedPerson
from graph.oria.tools.clarification import attach_exchange, clean
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.selection import SelectionOption, select_option
from graph.oria.tools.talent import person_texts
from graph.oria.tools.talent.person_candidates import (
    CANDIDATES_KEY,
    CONFIRMED_KEY,
    PersonCandidate,
    build_candidates,
    find_certain,
    find_confirmed,
    label_candidate,
    list_offered,
    narrow_candidates,
)
from graph.oria.untrusted import encode_data
from graph.policy import PERSON_SIMILARITY, QUESTION_OPTIONS
from oria_runtime.catalog.person_lookup import find_people, read_person
from oria_runtime.turns.context import TurnContext

NAME: Final = "person_disambiguation_tool"
FAILURE: Final = "Error: colleagues could not be looked up just now."
NO_NAME: Final = "Error: no name was given. Ask which colleague is meant."
NOBODY: Final = "No colleague has a name like this. Say so, and ask for the full name as the company writes it."
UNKNOWN_ID: Final = "Error: no earlier result has listed a colleague with this id. Look the name up first."
CONFIRMED: Final = "confirmed"
SEVERAL: Final = "The person was asked which of these is meant. Nobody is chosen until they reply with an exact id."
NOBODY_CHOSEN: Final = "The person chose none of them. Nobody is chosen, and this request ends here."

Runtime = ToolRuntime[TurnContext]


class PersonRequest(BaseModel):
    """Arguments of the tool."""

    person_name: str = Field(description="The colleague's name as the person wrote it; a part of it is enough.")
    person_id: str = Field(
        "", description="Exact id of a candidate that an earlier result listed and the person has chosen since."
    )


def build_person_tool() -> BaseTool:
    """The tool. It may pause, so list it as interrupting."""

    @declare_tool(NAME, PersonRequest)
    async def look_up_person(runtime: Runtime, person_name: str, person_id: str = "") -> ToolResult:
        """Look up a colleague by name and confirm who is meant, with the exact id.

        Always the first step when a request names somebody. Who is this person? I want to prepare a conversation with
        a colleague. I have a talk with somebody soon. When several people are possible, it asks the person: never
        choose one of them, and never invent an id. Look up one colleague at a time. It tells nothing else and changes
        nothing.
        """
        request = PersonRequest(person_name=clean(person_name), person_id=person_id.strip())
        work = look_up(request, runtime)
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return look_up_person


async def look_up(request: PersonRequest, runtime: Runtime) -> ToolResult:
    """The confirmed person, or why there is none yet."""
    context, messages, call_id = runtime.context, runtime.state["messages"], runtime.tool_call_id or ""
    if count_look_ups(messages) > 1:
        return fail(NAME, call_id, REJECTION)
    if request.person_id:
        return await confirm_by_id(request, messages, context, call_id)
    if not request.person_name:
        return fail(NAME, call_id, NO_NAME)
    if known := find_confirmed(messages, str(context.turn.id), request.person_name):
        return confirm(known, request, call_id)

    @task
    async def find_once() -> list[PersonCandidate]:
        return await find_candidates(request.person_name, context)

    return settle(request, await find_once(), context, call_id)


def count_look_ups(messages: Sequence[AnyMessage]) -> int:
    """How many people the last batch of calls looks up: a turn can be about one only."""
    last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    return sum(call["name"] == NAME for call in last.tool_calls) if last else 0


async def find_candidates(name: str, context: TurnContext) -> list[PersonCandidate]:
    """The tenant's people whose names are similar enough, at most one more than a selection shows."""
    async with context.database.transaction() as connection:
        matches = await find_people(
            connection,
            name,
            excluded=context.turn.user_id,
            threshold=PERSON_SIMILARITY,
            limit=QUESTION_OPTIONS + 1,
        )
    return narrow_candidates(build_candidates(matches))


def settle(
    request: PersonRequest, candidates: Sequence[PersonCandidate], context: TurnContext, call_id: str
) -> ToolResult:
    """Confirm the certain one, else let the person choose."""
    if not candidates:
        return ToolMessage(encode_data({"status": NOBODY, "candidates": []}), name=NAME, tool_call_id=call_id)
    if certain := find_certain(candidates):
        return confirm(SelectedPerson(id=certain["id"], name=certain["name"]), request, call_id)
    question = pick_text(pick_question(candidates), context.turn.locale)
    if not context.turn.interactions:
        return list_candidates(question, candidates[:QUESTION_OPTIONS], context.turn.locale, call_id)
    return ask_person(question, request, candidates, context.turn.locale, call_id)


def pick_question(candidates: Sequence[PersonCandidate]) -> person_texts.Texts:
    """The question by how many there are to choose from."""
    if len(candidates) == 1:
        return person_texts.IS_IT_THIS
    return person_texts.WHICH_OF_MANY if len(candidates) > QUESTION_OPTIONS else person_texts.WHICH_PERSON


def ask_person(
    question: str, request: PersonRequest, candidates: Sequence[PersonCandidate], locale: str, call_id: str
) -> ToolResult:
    """Pause for the choice. A skip chooses nobody and ends the request."""
    options = [SelectionOption(candidate["id"], label_candidate(candidate)) for candidate in candidates]
    selection = select_option(question, options)
    chosen = next((candidate for candidate in candidates if candidate["id"] == selection.id), None)
    if chosen is None:
        message = ToolMessage(NOBODY_CHOSEN, name=NAME, tool_call_id=call_id)
        ended = deliver(message, text=pick_text(person_texts.NOBODY_CHOSEN, locale))
        return attach_exchange(ended, selection.exchange)
    confirmed = confirm(SelectedPerson(id=chosen["id"], name=chosen["name"]), request, call_id)
    return attach_exchange(confirmed, selection.exchange)


def list_candidates(question: str, candidates: Sequence[PersonCandidate], locale: str, call_id: str) -> ToolResult:
    """The conversational form: the candidates with their ids are the answer, and the next turn names one."""
    lines = [f"- {label_candidate(candidate)}, id: {candidate['id']}" for candidate in candidates]
    text = "\n".join([question, *lines, pick_text(person_texts.REPLY_WITH_ID, locale)])
    listed = [{"id": candidate["id"], "name": label_candidate(candidate)} for candidate in candidates]
    message = ToolMessage(
        encode_data({"status": SEVERAL, "candidates": listed}),
        name=NAME,
        tool_call_id=call_id,
        additional_kwargs={CANDIDATES_KEY: [candidate["id"] for candidate in candidates]},
    )
    return deliver(message, text=text)


async def confirm_by_id(
    request: PersonRequest, messages: Sequence[AnyMessage], context: TurnContext, call_id: str
) -> ToolResult:
    """The candidate of an earlier result with exactly this id: a guessed id could be somebody's."""
    person = None
    if request.person_id in list_offered(messages):
        async with context.database.transaction() as connection:
            person = await read_person(connection, request.person_id, excluded=context.turn.user_id)
    if person is None:
        return fail(NAME, call_id, UNKNOWN_ID)
    return confirm(SelectedPerson(id=person.person_id, name=person.name), request, call_id)


def confirm(person: SelectedPerson, request: PersonRequest, call_id: str) -> ToolResult:
    """The person in the state of the conversation, and as the result that later steps read."""
    message = ToolMessage(
        encode_data({"status": CONFIRMED, "person": person}),
        name=NAME,
        tool_call_id=call_id,
        additional_kwargs={
            CANDIDATES_KEY: [person["id"]],
            CONFIRMED_KEY: {**person, "asked": request.person_name},
        },
    )
    return Command(update={"selected_person": person, "messages": [message]})
