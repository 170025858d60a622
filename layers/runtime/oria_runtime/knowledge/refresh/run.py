"""One source, from its lease to its next date. The signature first."""

import random
from typing import TYPE_CHECKING

from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.turns.invocation import Invocation

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox


async def refresh_source(
    sandbox: "Sandbox", message: RefreshMessage, invocation: Invocation, *, rng: random.Random
) -> str:
    """Refresh the source, or go on with the index version, that a message names; says how it ended."""
    raise NotImplementedError
