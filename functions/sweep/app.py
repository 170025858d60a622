"""What no event announces: lost dispatches, expired leases and pauses, retention (DESIGN §2.2)."""

from typing import Any

from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.sweeper import sweep


@instrument
def handler(_event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Sweep once; the schedule's event says nothing that matters. Answers what was swept."""
    sandbox = get_sandbox()
    return sandbox.run(sweep(sandbox))
