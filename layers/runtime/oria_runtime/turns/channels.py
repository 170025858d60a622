"""Where a turn came from, as far as a graph must know it. The edges set it; no client can send it."""

from typing import Final

from oria_runtime.turns.models import Turn

# The member of `turn.request`.
CHANNEL: Final = "channel"
MCP: Final = "mcp"


def read_channel(turn: Turn) -> str | None:
    """The channel of a turn; None is a person's own client."""
    channel: str | None = turn.request.get(CHANNEL)
    return channel
