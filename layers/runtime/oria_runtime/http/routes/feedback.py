"""What the caller thinks of an answer."""

from fastapi import APIRouter

from oria_runtime.http.documentation import problems
from oria_runtime.http.requests import NewFeedback
from oria_runtime.http.responses import FeedbackView
from oria_runtime.http.routes.parameters import MessageId
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.turns.feedback import give_feedback, withdraw_feedback

router = APIRouter(prefix="/messages/{message_id}/feedback", tags=["feedback"], route_class=CallerRoute)


@router.put("", operation_id="writeFeedback", summary="Give or change feedback", responses=problems(404, body=True))
async def write_feedback(caller: CurrentCaller, message_id: MessageId, body: NewFeedback) -> FeedbackView:
    """On a message of the assistant. The same again changes nothing."""
    given = await give_feedback(caller.database, caller.user_id, message_id, body.rating, body.comment)
    return FeedbackView.model_validate(given)


@router.delete("", operation_id="deleteFeedback", summary="Withdraw feedback", status_code=204, responses=problems(404))
async def delete_feedback(caller: CurrentCaller, message_id: MessageId) -> None:
    """Rating and comment are erased. Withdrawing again, or what was never given, is no error."""
    await withdraw_feedback(caller.database, caller.user_id, message_id)
