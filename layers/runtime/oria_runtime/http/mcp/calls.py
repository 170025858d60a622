"""tools/call: a turn of the named agent, accepted as the API accepts one, and followed until it has an outcome.

A client that leaves cancels nothing: the same call with the same idempotency key follows the same turn again.
"""

from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from oria_runtime.errors import InvalidRequestError, RequestError, Violation
from oria_runtime.http import limits
from oria_runtime.http.answering import has_outcome
from oria_runtime.http.bodies import check_storable
from oria_runtime.http.headers import read_idempotency_key
from oria_runtime.http.mcp.context import Client, Context
from oria_runtime.http.mcp.progress import ProgressReport
from oria_runtime.http.mcp.results import report_fault, show_refusal, show_turn
from oria_runtime.http.mcp.tools import Offer, ToolArguments, list_offers
from oria_runtime.http.problems import make_pointer
from oria_runtime.http.requests import ChatMessage
from oria_runtime.http.services import Caller
from oria_runtime.http.sse import EventStream, Pace
from oria_runtime.http.submitting import Submission, submit_chat
from oria_runtime.turns import channels
from oria_runtime.turns.models import Turn
from oria_runtime.turns.reading import read_events, read_turn

# The `_meta` member of a call that says which calls are one.
IDEMPOTENCY_KEY = "oria/idempotency-key"


async def call_tool(pace: Pace, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """The handler. Raises MCPError for a tool that the tenant does not have, and for faults of the service; what the
    client can put right is a result with `isError`."""
    client = Client.of(context)
    caller = client.caller
    offer = list_offers(caller.services.sandbox.registry, client.tenant.config).get(params.name)
    if offer is None:
        raise MCPError(types.INVALID_PARAMS, "Unknown tool: the tenant of this token has none of that name.")
    try:
        turn = await begin_turn(caller, offer, params)
        return show_turn(await follow_turn(caller, turn, ProgressReport(context, turn), pace))
    except RequestError as error:
        return show_refusal(error)
    except Exception as error:
        raise report_fault(error, client.request) from error


async def begin_turn(caller: Caller, offer: Offer, params: types.CallToolRequestParams) -> Turn:
    """The accepted turn, or the one that a call with the same key began. Raises RequestError."""
    arguments = read_arguments(params.arguments or {})
    key = read_key(params.meta or {})
    body = ChatMessage(
        message=arguments.message,
        agent=offer.agent.id,
        locale=arguments.locale,
        interactions=False,
        conversation_id=arguments.conversation_id,
        assistant=None if arguments.conversation_id else offer.assistant.id,
    )
    submission = Submission(body, key, f"MCP {offer.assistant.id}", channels.MCP)
    # A commit and its dispatch: a client that leaves between them would leave the turn to the sweeper.
    with anyio.CancelScope(shield=True):
        turn = await submit_chat(caller, submission, body)
    return turn


async def follow_turn(caller: Caller, turn: Turn, report: ProgressReport, pace: Pace) -> Turn:
    """The turn once it has ended or asks, or as it is when the call has lived long enough."""

    async def is_settled() -> bool:
        return has_outcome(await read_turn(caller.database, caller.user_id, turn.id))

    read = partial(read_events, caller.database, caller.user_id, turn.id)
    stream = EventStream(read, is_settled, (), replace(pace, cut=pace.cut * limits.MCP_CALL_CUTS))
    async with aclosing(stream.follow(0)) as events:
        async for event in events:
            await report.tell(event)
    return await read_turn(caller.database, caller.user_id, turn.id)


def read_arguments(arguments: dict[str, Any]) -> ToolArguments:
    """The checked arguments. Raises InvalidRequestError, which says what is wrong and where."""
    check_storable(arguments)
    try:
        return ToolArguments.model_validate(arguments)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        violations = [
            Violation(make_pointer(item["loc"]), item["msg"].removeprefix("Value error, ")) for item in details
        ]
        raise InvalidRequestError("The arguments do not fit the tool's schema.", violations) from error


def read_key(meta: Any) -> str | None:
    """The idempotency key of a call's `_meta`. Raises InvalidRequestError."""
    key, pointer = meta.get(IDEMPOTENCY_KEY), make_pointer(["_meta", IDEMPOTENCY_KEY])
    if key is not None and not isinstance(key, str):
        raise InvalidRequestError("The idempotency key is malformed.", [Violation(pointer, "must be a string")])
    return read_idempotency_key(key, pointer)
