"""Answers to the questions that a turn waits for."""

from fastapi import APIRouter, Response

from oria_runtime.http.answering import answer_turn
from oria_runtime.http.documentation import problems
from oria_runtime.http.headers import read_wait
from oria_runtime.http.requests import InteractionResponse
from oria_runtime.http.responses import TurnView
from oria_runtime.http.routes.parameters import InteractionId
from oria_runtime.http.routes.turns import TURN_RESPONSES, Prefer
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.http.submitting import submit_response

router = APIRouter(prefix="/interactions", tags=["interactions"], route_class=CallerRoute)


@router.post(
    "/{interaction_id}/response",
    operation_id="respondToInteraction",
    summary="Answer a turn's questions",
    status_code=202,
    response_model=TurnView,
    responses=problems(403, 404, 409, body=True) | TURN_RESPONSES,
)
async def respond(
    caller: CurrentCaller,
    interaction_id: InteractionId,
    body: InteractionResponse,
    prefer: Prefer = None,
) -> Response:
    """Covers every question of the interaction, each by a text, by option ids or by a skip; or cancels the workflow."""
    turn = await submit_response(caller, interaction_id, body)
    return await answer_turn(caller, turn, read_wait(prefer))
