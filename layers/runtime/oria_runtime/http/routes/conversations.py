"""Conversations and their transcripts."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from oria_runtime.http import limits
from oria_runtime.http.documentation import LOCATION, problems
from oria_runtime.http.requests import NewConversation
from oria_runtime.http.responses import ConversationPage, ConversationView, MessagePage
from oria_runtime.http.routes.parameters import ConversationId
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.http.starting import open_conversation
from oria_runtime.turns import conversations

router = APIRouter(prefix="/conversations", tags=["conversations"], route_class=CallerRoute)

Limit = Annotated[int, Query(ge=1, le=limits.PAGE, description="How many at most.")]
Before = Annotated[
    str | None, Query(max_length=limits.CURSOR_CHARACTERS, description="`next_cursor` of the page before this one.")
]
AGAIN: dict[str, Any] = {
    "description": "The conversation of this simulation in which nothing was said yet.",
    "model": ConversationView,
    "headers": LOCATION,
}
After = Annotated[str | None, Query(pattern=r"^\d{1,9}$", description="`next_cursor` of the page before this one.")]


@router.post(
    "",
    operation_id="createConversation",
    summary="Begin a conversation",
    status_code=201,
    responses=problems(403, 404, body=True) | {200: AGAIN, 201: {"headers": LOCATION}},
)
async def create_conversation(caller: CurrentCaller, body: NewConversation, response: Response) -> ConversationView:
    """A conversation has one assistant; without a `locale` each turn's language is found from its text.

    The assistant of simulations takes the `simulation_id` of a card; asked again before anything was said, it answers
    200 with the conversation that waits already.
    """
    conversation, created = await open_conversation(caller, body)
    response.status_code = 201 if created else 200
    response.headers["Location"] = caller.services.link("conversations", conversation.id)
    return ConversationView.model_validate(conversation)


@router.get("", operation_id="listConversations", summary="The caller's conversations", responses=problems(422))
async def list_conversations(
    caller: CurrentCaller, limit: Limit = limits.DEFAULT_PAGE, before: Before = None
) -> ConversationPage:
    """The last used first."""
    page = await conversations.list_conversations(caller.database, caller.user_id, limit=limit, before=before)
    return ConversationPage.model_validate(page)


@router.get("/{conversation_id}", operation_id="readConversation", summary="One conversation", responses=problems(404))
async def read_conversation(caller: CurrentCaller, conversation_id: ConversationId) -> ConversationView:
    """`active_turn_id` is the turn that works or waits for answers."""
    conversation = await conversations.read_conversation(caller.database, caller.user_id, conversation_id)
    return ConversationView.model_validate(conversation)


@router.delete(
    "/{conversation_id}",
    operation_id="deleteConversation",
    summary="Delete a conversation and everything in it",
    status_code=204,
    responses=problems(404),
)
async def delete_conversation(caller: CurrentCaller, conversation_id: ConversationId) -> None:
    """Thread, turns, events and transcript are gone at once; a turn at work stops."""
    await conversations.delete_conversation(caller.database, caller.user_id, conversation_id)


@router.get(
    "/{conversation_id}/messages",
    operation_id="listMessages",
    summary="The transcript",
    responses=problems(404, 422),
)
async def list_messages(
    caller: CurrentCaller, conversation_id: ConversationId, limit: Limit = limits.DEFAULT_PAGE, after: After = None
) -> MessagePage:
    """The oldest message first, as the person saw it."""
    page = await conversations.list_messages(
        caller.database, caller.user_id, conversation_id, limit=limit, after=int(after or 0)
    )
    return MessagePage.model_validate(page)
