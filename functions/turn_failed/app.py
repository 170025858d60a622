"""What a killed or crashed stage means for its turn (DESIGN §2.2): the on-failure destination of the stages."""

from typing import Any

from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.failures import FailureRecord, decide_failure


@instrument
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Decide one failure record of Lambda's asynchronous invocation; says what was decided."""
    sandbox = get_sandbox()
    return sandbox.run(decide_failure(sandbox, FailureRecord.from_destination(event)))
