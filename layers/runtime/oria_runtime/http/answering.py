"""How a turn is answered: 202 with its address, or, when the client waits, 200 with the outcome (RFC 7240)."""

from contextlib import suppress

from psycopg import OperationalError
from starlette.responses import Response

from oria_runtime.http.responses import TurnView
from oria_runtime.http.services import Caller
from oria_runtime.turns.models import Turn, TurnStatus
from oria_runtime.turns.reading import wait_for_outcome


def has_outcome(turn: Turn) -> bool:
    """Whether there is something to show: the turn ended, or it asks."""
    return turn.status.terminal or turn.status is TurnStatus.AWAITING_INPUT


async def answer_turn(caller: Caller, turn: Turn, wait: int | None) -> Response:
    """The response to a call that began, continued or cancelled a turn. `wait` is in seconds."""
    headers = {}
    if wait:
        with suppress(OperationalError):
            # The turn is accepted, whatever becomes of looking at it.
            turn = await wait_for_outcome(caller.database, caller.user_id, turn.id, caller.limit_wait(wait))
        headers["Preference-Applied"] = f"wait={wait}"
    waited = wait is not None and has_outcome(turn)
    address = caller.services.link("turns", turn.id)
    headers["Content-Location" if waited else "Location"] = address
    status = 200 if waited or turn.status.terminal else 202
    return Response(TurnView.of(turn).model_dump_json(), status, headers, "application/json")
