"""A stage, or the memory branch, in a process that is gone the moment it has answered: nothing is sent after that.

    python -m tests.support.oria_worker '{"tenant_id": …, "turn_id": …, "seq": 1, "stage": "gate"}'

What a frozen Lambda sandbox leaves undone, this one leaves undone for good. The environment is a function's.
"""

import json
import os
import sys
import time

from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.invocation import Invocation
from oria_runtime.turns.memory_runner import ApprovedEvent, run_memory
from oria_runtime.turns.stage_runner import run_stage
from tests.support.engine import Bus


def main() -> None:
    """Run it and end the process without any clean-up."""
    event = {"detail": json.loads(sys.argv[1])}
    sandbox, invocation = Sandbox(os.environ, publisher=Bus()), Invocation("r", time.monotonic() + 30)
    if "stage" in event["detail"]:
        result = sandbox.run(run_stage(sandbox, StageEvent.from_bus(event), invocation))
    else:
        result = sandbox.run(run_memory(sandbox, ApprovedEvent.from_bus(event), invocation))
    os.write(1, f"\nresult: {json.dumps(result)}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main()
