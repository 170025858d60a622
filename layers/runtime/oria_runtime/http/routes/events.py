"""The events of a turn as they happen; served by the stream function, because Mangum buffers."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Response

from oria_runtime.http.answering import has_outcome
from oria_runtime.http.documentation import Responses, problems
from oria_runtime.http.headers import read_last_event_id
from oria_runtime.http.routes.parameters import TurnId
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import Caller, CurrentCaller
from oria_runtime.http.sse import EventStream, EventStreamResponse, Pace
from oria_runtime.turns.reading import read_events, read_turn

FRAME = 'id: 1\nevent: run.accepted\ndata: {"v":1,"turn_id":"…","seq":1,"type":"run.accepted","at":"…"}\n\n'
STREAM_RESPONSES: Responses = {
    200: {
        "description": "Server-sent events; a comment every 15 seconds; `retry:` before a cut after five minutes.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": FRAME}},
    },
    204: {"description": "The turn has ended or waits for answers, and every event has been seen."},
}
LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        description="The id of the last event seen; absent or -1: from the start. No number: 400.",
    ),
]


def create_router(pace: Pace) -> APIRouter:
    """The route, at a pace."""
    router = APIRouter(prefix="/turns", tags=["turns"], route_class=CallerRoute)

    @router.get(
        "/{turn_id}/events",
        operation_id="streamTurnEvents",
        summary="Follow a turn",
        response_class=Response,
        responses=problems(400, 404) | STREAM_RESPONSES,
    )
    async def stream_events(caller: CurrentCaller, turn_id: TurnId, last_event_id: LastEventId = None) -> Response:
        """Replays what was missed, then streams until the turn ends or asks."""
        return await open_stream(caller, turn_id, read_last_event_id(last_event_id), pace)

    return router


async def open_stream(caller: Caller, turn_id: UUID, after: int, pace: Pace) -> Response:
    """The stream of a turn after an event, or 204. Raises NotFoundError.

    The turn is read before its events: one that has ended by then has shown its last event.
    """
    turn = await read_turn(caller.database, caller.user_id, turn_id)
    read = partial(read_events, caller.database, caller.user_id, turn_id)
    first = await read(after)
    if not first and has_outcome(turn):
        return Response(status_code=204)

    async def is_settled() -> bool:
        return has_outcome(await read_turn(caller.database, caller.user_id, turn_id))

    return EventStreamResponse(EventStream(read, is_settled, first, pace).frames(after))
