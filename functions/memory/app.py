"""Long-term preferences, beside the turn and never in its way (DESIGN §2.5)."""

from typing import Any

from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.memory_runner import ApprovedEvent, run_memory
from oria_runtime.turns.stage_runner import Invocation


@instrument
def handler(event: dict[str, Any], context: Any) -> None:
    """Update the person's preferences after a `turn.approved` event of the bus."""
    sandbox = get_sandbox()
    sandbox.run(run_memory(sandbox, ApprovedEvent.from_bus(event), Invocation.from_context(context)))
