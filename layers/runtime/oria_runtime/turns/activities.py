"""What a person sees of a run: LangGraph's task parts and the graph's own progress, with names and never payloads.

`tasks` and `custom` are parts that LangGraph's v3 event stream wraps. The v3 stream itself, and the mode `tools`, are
not used: their callback handlers make langchain-core stream every model call of the run, the private ones too, and an
answer that breaks in mid-stream is not retried where a whole one is. Tool calls come as custom progress from a
middleware (graph/middleware/activity.py).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oria_runtime.turns.models import Event, EventType

Status = Literal["ok", "error", "paused"]


@dataclass
class Activities:
    """The activities of one stage's run. `nodes` are the graph nodes that count as tasks; an agent's steps do not."""

    nodes: Collection[str]
    add_event: Callable[[Event], None]
    open: dict[str, str] = field(default_factory=dict)

    def note_task(self, part: Mapping[str, Any]) -> None:
        """A part of the stream mode `tasks`: the start has an input, the end a result."""
        if part["name"] not in self.nodes:
            return
        if "input" in part:
            self.open[part["id"]] = part["name"]
            self.add_event(Event(EventType.ACTIVITY_STARTED, describe(part["id"], part["name"])))
        else:
            self.complete(part["id"], "paused" if part["interrupts"] else "error" if part["error"] else "ok")

    def complete(self, activity_id: str, status: Status) -> None:
        """End an activity once."""
        name = self.open.pop(activity_id, None)
        if name is not None:
            data = describe(activity_id, name) | {"status": status}
            self.add_event(Event(EventType.ACTIVITY_COMPLETED, data))

    def fail(self) -> None:
        """End as errors what a run that broke left open."""
        for activity_id in list(self.open):
            self.complete(activity_id, "error")


def describe(activity_id: str, name: str) -> dict[str, str]:
    """All that a client learns of a task."""
    return {"activity_id": activity_id, "kind": "task", "name": name}
