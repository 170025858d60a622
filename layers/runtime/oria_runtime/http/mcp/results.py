"""What a call gives: the outcome of its turn, a refusal that the client can put right, or a fault of ours."""

import mcp_types as types
from mcp.shared.exceptions import MCPError
from psycopg import OperationalError
from starlette.requests import Request

from oria_runtime.errors import ConflictError, InvalidRequestError, RequestError, UnavailableError
from oria_runtime.http import limits
from oria_runtime.http.mcp.tools import ToolOutput
from oria_runtime.http.problems import INTERNAL_DETAIL, UNAVAILABLE_DETAIL
from oria_runtime.http.reporting import report_failure
from oria_runtime.http.responses import OutcomeView, SourceView
from oria_runtime.turns.models import Turn, TurnStatus

AWAY = (UnavailableError, OperationalError, TimeoutError)
UNFINISHED = (
    "The turn is still at work. Repeat the call with its idempotency key, or look at the turn, to learn how it ends."
)
# A block or a doubt is an answer: marked as an error, it would have clients' models try until the gate lets one pass.
ANSWERED = frozenset({TurnStatus.COMPLETED, TurnStatus.BLOCKED, TurnStatus.AWAITING_INPUT})


def show_turn(turn: Turn) -> types.CallToolResult:
    """The turn as text and as structured content; `isError` unless it has something to say."""
    outcome = OutcomeView.model_validate(turn.outcome) if turn.outcome else OutcomeView(type="message", text=UNFINISHED)
    output = ToolOutput(
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        status=turn.status,
        text=outcome.text,
        cards=outcome.cards,
        sources=[SourceView.model_validate(source) for source in outcome.sources],
    )
    return types.CallToolResult(
        content=[types.TextContent(text=outcome.text)],
        structured_content=output.model_dump(mode="json"),
        is_error=turn.status not in ANSWERED,
    )


def show_refusal(error: RequestError) -> types.CallToolResult:
    """Why no turn began, for a model that may try again better."""
    lines = [error.detail]
    if isinstance(error, InvalidRequestError):
        lines += [f"{item.pointer}: {item.detail}" for item in error.errors[: limits.REPORTED_ERRORS]]
    if isinstance(error, ConflictError):
        lines += [f"{name}: {value}" for name, value in error.blocking.items()]
    return types.CallToolResult(content=[types.TextContent(text="\n".join(lines))], is_error=True)


def report_fault(error: Exception, request: Request) -> MCPError:
    """The protocol's error for a fault of the service; its cause is for the log only."""
    away = isinstance(error, AWAY)
    report_failure(error, request.scope, 503 if away else 500)
    data = {"retryable": away, "request_id": request.state.request_id}
    return MCPError(types.INTERNAL_ERROR, UNAVAILABLE_DETAIL if away else INTERNAL_DETAIL, data)
