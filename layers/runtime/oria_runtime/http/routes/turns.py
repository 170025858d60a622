"""Turns: beginning one, looking at it, cancelling it."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from oria_runtime.http.answering import answer_turn
from oria_runtime.http.documentation import APPLIED, CONTENT_LOCATION, LOCATION, Responses, problems
from oria_runtime.http.headers import read_idempotency_key, read_wait
from oria_runtime.http.requests import ChatMessage, NewTurn
from oria_runtime.http.responses import TurnView
from oria_runtime.http.routes.parameters import ConversationId, TurnId
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.http.submitting import Submission, submit_chat, submit_turn
from oria_runtime.turns.cancellation import cancel_turn as cancel
from oria_runtime.turns.reading import read_turn as read

router = APIRouter(tags=["turns"], route_class=CallerRoute)

Prefer = Annotated[
    str | None,
    Header(
        alias="Prefer",
        description="`wait=N` answers 200 with the outcome if it comes within N (at most 25) seconds.",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Repeats with this key and body give the same turn; another body is a 422.",
        examples=["6f9c1e0a-2b1d-4f7e-9a51-d2c8a3b4e5f6"],
    ),
]

TURN_RESPONSES: Responses = {
    200: {"description": "The turn has an outcome.", "model": TurnView, "headers": CONTENT_LOCATION | APPLIED},
    202: {"description": "The turn is accepted.", "headers": LOCATION | APPLIED},
}


@router.post(
    "/conversations/{conversation_id}/turns",
    operation_id="createTurn",
    summary="Say something",
    status_code=202,
    response_model=TurnView,
    responses=problems(403, 404, 409, body=True) | TURN_RESPONSES,
)
async def create_turn(
    caller: CurrentCaller,
    conversation_id: ConversationId,
    body: NewTurn,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Begins a turn. A second one while a turn is active is a 409, unless `on_conflict` says otherwise."""
    route = f"POST /conversations/{conversation_id}/turns"
    turn = await submit_turn(caller, conversation_id, Submission(body, read_idempotency_key(idempotency_key), route))
    return await answer_turn(caller, turn, read_wait(prefer))


@router.post(
    "/chat",
    operation_id="chat",
    summary="Say something, in a new conversation when none is named",
    status_code=202,
    response_model=TurnView,
    responses=problems(403, 404, 409, body=True) | TURN_RESPONSES,
)
async def chat(
    caller: CurrentCaller, body: ChatMessage, prefer: Prefer = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """The turn's `conversation_id` continues the conversation."""
    turn = await submit_chat(caller, Submission(body, read_idempotency_key(idempotency_key), "POST /chat"), body)
    return await answer_turn(caller, turn, read_wait(prefer))


@router.get(
    "/turns/{turn_id}", operation_id="readTurn", summary="Status and outcome of a turn", responses=problems(404)
)
async def read_turn(caller: CurrentCaller, turn_id: TurnId) -> TurnView:
    """With usage and cost by task label."""
    return TurnView.of(await read(caller.database, caller.user_id, turn_id))


@router.post(
    "/turns/{turn_id}/cancel",
    operation_id="cancelTurn",
    summary="Stop a turn",
    status_code=202,
    response_model=TurnView,
    responses=problems(404)
    | {
        200: {"description": "The turn is over.", "model": TurnView, "headers": LOCATION},
        202: {"description": "The turn stops within a second.", "headers": LOCATION},
    },
)
async def cancel_turn(caller: CurrentCaller, turn_id: TurnId) -> Response:
    """A turn that ended already stays as it is."""
    turn = await cancel(caller.services.sandbox, caller.database, caller.user_id, turn_id)
    return await answer_turn(caller, turn, None)
