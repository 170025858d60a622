"""The protocol server of `/mcp`: the SDK's low-level one with two requests, tools/list and tools/call."""

from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from oria_runtime.http.mcp.calls import call_tool
from oria_runtime.http.mcp.context import Client, Context
from oria_runtime.http.mcp.tools import describe_tool, list_offers
from oria_runtime.http.sse import Pace

NAME = "oria"
VERSION = "1"
INSTRUCTIONS = (
    "Each tool is a specialist for questions of the signed-in person. A call may take minutes and tells its progress. "
    "Pass the `conversation_id` of a result to go on with that conversation."
)


def build_server(pace: Pace) -> Server[dict[str, Any]]:
    """A server whose handlers find the caller in the HTTP request that each message came with."""
    return Server(
        NAME,
        version=VERSION,
        title="Oria",
        instructions=INSTRUCTIONS,
        # No argument of ours is repeated in a header, so the SDK need not list the tools before each call.
        get_tool_input_schema=lambda _: None,
        on_list_tools=list_tools,
        on_call_tool=partial(call_tool, pace),
    )


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """The tools of the caller's tenant; the SDK marks the list as private and stale at once."""
    del params
    client = Client.of(context)
    offers = list_offers(client.caller.services.sandbox.registry, client.tenant.config)
    return types.ListToolsResult(tools=[describe_tool(name, offer) for name, offer in offers.items()])
