"""Refreshes the sources, and builds the index versions, that messages of the refresh queue name."""

from typing import Any

import oria_runtime.cold_start  # noqa: F401 - first, because of the imports that follow
from oria_runtime.knowledge.refresh.consuming import consume
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.turns.invocation import Invocation


@instrument
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch of messages; answers which of them are to come again."""
    sandbox = get_sandbox()
    return sandbox.run(consume(sandbox, event["Records"], Invocation.from_context(context)))
