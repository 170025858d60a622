"""A turn's events as progress notifications: names of stages and activities, never what was said."""

import mcp_types as types

from oria_runtime.http.mcp.context import Context
from oria_runtime.turns.models import EventType, StoredEvent, Turn

ACCEPTED = "accepted"


class ProgressReport:
    """Tells a client that gave a progress token how its call goes on; tells nobody else anything.

    The protocol wants numbers that grow: they count the notifications, because nobody knows how many there will be.
    A silence repeats the last message, so that a client which waits for progress goes on waiting. `_meta` names the
    turn, which the API can cancel and show.
    """

    def __init__(self, context: Context, turn: Turn) -> None:
        self._session = context.session
        self._request_id = context.request_id
        self._token = (context.meta or {}).get("progress_token")
        self._meta = {"conversation_id": str(turn.conversation_id), "turn_id": str(turn.id)}
        self._told = 0
        self._message = ACCEPTED

    async def tell(self, event: StoredEvent | None) -> None:
        """One notification for an event that has a name, and for a silence (None)."""
        message = self._message if event is None else name_event(event)
        if self._token is None or message is None:
            return
        self._told += 1
        self._message = message
        params = types.ProgressNotificationParams(
            progress_token=self._token, progress=self._told, message=message, _meta=self._meta
        )
        await self._session.send_notification(types.ProgressNotification(params=params), self._request_id)


def name_event(event: StoredEvent) -> str | None:
    """What a client may show of an event; None when there is nothing to show."""
    if event.type is EventType.RUN_ACCEPTED:
        return ACCEPTED
    if event.type is EventType.STAGE_STARTED:
        return str(event.data["stage"])
    if event.type is EventType.ACTIVITY_STARTED:
        return str(event.data["name"])
    return None
