"""Building the request context of a stage from its claim: nothing of it is ever stored in a checkpoint."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from oria_runtime import tracing
from oria_runtime.models.client import Models, build_models
from oria_runtime.tenancy.tenants import Tenant
from oria_runtime.turns.claim import Claim
from oria_runtime.turns.context import TurnContext

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler

    from oria_runtime.sandbox import Sandbox


def build_context(sandbox: "Sandbox", claim: Claim, *, now: datetime, seconds: float) -> TurnContext:
    """`seconds` is what the stage has left until its in-band deadline."""

    async def unseal_token() -> str | None:
        ids = {"tenant_id": claim.turn.tenant_id, "turn_id": claim.turn.id}
        return await sandbox.sealer.unseal(claim.sealed, claim.sealed_expires_at, now=now, **ids)

    # Judging answers is no graph run, which would bring the callbacks itself.
    callbacks = tracing.callbacks(sandbox.environ, claim.turn.id) if claim.judges_answers else ()
    return TurnContext(
        turn=claim.turn,
        tenant=claim.tenant,
        database=sandbox.database(claim.turn.tenant_id),
        models=build_tenant_models(sandbox, claim.tenant, callbacks),
        now=now,
        deadline=asyncio.get_running_loop().time() + seconds,
        directive=claim.turn.directive,
        token=unseal_token,
        allow_loopback=sandbox.settings.allow_loopback,
    )


def build_tenant_models(sandbox: "Sandbox", tenant: Tenant, callbacks: "Sequence[BaseCallbackHandler]" = ()) -> Models:
    """The models of a tenant, fresh: their usage is one stage's."""
    return build_models(sandbox.settings.models, tenant.config, callbacks=callbacks)
