"""One stage of a turn. The stage functions differ in their entry of template.yaml only: STAGE, Timeout, memory."""

from typing import Any

import oria_runtime.cold_start  # noqa: F401 - first, because of the imports that follow
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.invocation import Invocation
from oria_runtime.turns.stage_runner import run_stage


@instrument
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Run the stage that a `turn.stage` event of the bus names (DESIGN §2.1); says how it ended."""
    sandbox = get_sandbox()
    return sandbox.run(run_stage(sandbox, StageEvent.from_bus(event), Invocation.from_context(context)))
