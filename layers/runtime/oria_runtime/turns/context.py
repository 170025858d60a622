"""What a graph may know of the request it runs in: LangGraph's runtime context, rebuilt by each stage, never stored."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.tenancy.tenants import Tenant
from oria_runtime.turns.models import Turn

if TYPE_CHECKING:
    from oria_runtime.models.client import Models


@dataclass(frozen=True)
class TurnContext:
    """The request context of a stage.

    `deadline` is on the running loop's clock, in seconds. `directive` is set when the engine asks a stage to recover
    (`unavailable`). `token` unseals the caller's bearer token, or gives None when it has expired or was not needed.
    `allow_loopback` lets the pages of a question be read from this machine, as the deployment's settings say.
    """

    turn: Turn
    tenant: Tenant
    database: TenantDatabase
    models: "Models"
    now: datetime
    deadline: float
    directive: str | None
    token: Callable[[], Awaitable[str | None]]
    allow_loopback: bool = False
