"""Long-term preferences, beside the turn and never in its way (DESIGN §2.5)."""

from typing import Any

import oria_runtime.cold_start  # noqa: F401 - first, because of the imports that follow
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.invocation import Invocation
from oria_runtime.turns.memory_runner import ApprovedEvent, run_memory


@instrument
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Update the person's preferences after a `turn.approved` event of the bus; says what became of it."""
    sandbox = get_sandbox()
    return sandbox.run(run_memory(sandbox, ApprovedEvent.from_bus(event), Invocation.from_context(context)))
