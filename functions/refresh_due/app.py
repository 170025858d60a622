"""The clock of the knowledge: what is due goes to the refresh queue, one message a source."""

from typing import Any

from oria_runtime.knowledge.refresh.due import enqueue_due
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox


@instrument
def handler(_event: dict[str, Any], _context: Any) -> dict[str, int]:
    """Enqueue once; the schedule's event says nothing that matters. Answers how many messages were sent."""
    sandbox = get_sandbox()
    return {"enqueued": sandbox.run(enqueue_due(sandbox))}
