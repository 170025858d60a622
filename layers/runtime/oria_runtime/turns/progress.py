"""How code inside a graph tells the person what goes on: custom stream chunks that the stage runner makes events of.

Only final public generation is a delta. Activities carry names and counts, never payloads.
"""

from langgraph.config import get_stream_writer

from oria_runtime.turns.models import Event, EventType


def emit_delta(text: str) -> None:
    """Stream a piece of the public answer."""
    get_stream_writer()(Event(EventType.MESSAGE_DELTA, {"text": text}))


def emit_activity_started(activity_id: str, kind: str, name: str, comment: str = "") -> None:
    """Say that a node, a tool or a search began. `kind` is `tool`, `task` or `research`.

    `comment` is a fixed text in the person's language; nothing that a model or a person wrote goes into it.
    """
    data = {"activity_id": activity_id, "kind": kind, "name": name} | ({"comment": comment} if comment else {})
    get_stream_writer()(Event(EventType.ACTIVITY_STARTED, data))


def emit_activity_completed(activity_id: str, kind: str, name: str, status: str) -> None:
    """Say how it ended: `ok`, `error` or `paused`."""
    data = {"activity_id": activity_id, "kind": kind, "name": name, "status": status}
    get_stream_writer()(Event(EventType.ACTIVITY_COMPLETED, data))
