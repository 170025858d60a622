"""The memory branch of an approved turn: its own function, its own claim, never the thread (DESIGN §2.5).

Best effort: whatever fails here ends here. An approved update stands when the turn later fails.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from oria_runtime import tracing
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import ConflictError, InvalidRequestError
from oria_runtime.observability import count
from oria_runtime.tenancy.tenants import read_tenant
from oria_runtime.turns.assistants import Assistant, find_assistant
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.invocation import Invocation
from oria_runtime.turns.preferences import read_preferences, write_preferences
from oria_runtime.turns.rows import add_usage, turn_from_row
from oria_runtime.turns.stage_context import build_tenant_models

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

# One update per turn id: a duplicate of the event finds the claim taken.
CLAIM_MEMORY_SQL = "update turns set memory_claim = %s where id = %s and memory_claim is null returning *"
# Another turn of the same person may win the swap; then the list is reconciled again with what that one wrote.
ATTEMPTS = 2


@dataclass(frozen=True)
class ApprovedEvent:
    """The gate approved this turn's message."""

    tenant_id: UUID
    turn_id: UUID

    @classmethod
    def from_bus(cls, event: Mapping[str, Any]) -> "ApprovedEvent":
        """Parse an EventBridge event. Raises InvalidRequestError."""
        try:
            return cls(UUID(event["detail"]["tenant_id"]), UUID(event["detail"]["turn_id"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidRequestError("not a turn.approved event") from error


async def run_memory(sandbox: "Sandbox", event: ApprovedEvent, invocation: Invocation) -> dict[str, str]:
    """Evaluate the turn's message and update the person's list if it says something lasting."""
    database = sandbox.database(event.tenant_id)
    token = uuid4()
    async with database.transaction() as connection:
        row = await (await connection.execute(CLAIM_MEMORY_SQL, (token, event.turn_id))).fetchone()
        if row is None:
            return {"result": "not_claimed"}
        tenant = await read_tenant(connection, event.tenant_id)
    assistant = find_assistant(sandbox.registry, row["assistant"])
    seconds = min(assistant.memory_timeout, invocation.remaining())
    context = TurnContext(
        turn=turn_from_row(row),
        tenant=tenant,
        database=database,
        models=build_tenant_models(sandbox, tenant, tracing.callbacks(sandbox.environ, event.turn_id)),
        now=datetime.now(UTC),
        deadline=asyncio.get_running_loop().time() + seconds,
        directive=None,
        token=_no_token,
    )
    try:
        async with asyncio.timeout(seconds):
            result = await _update(assistant, context)
    finally:
        # What a failed update has spent is spent.
        async with database.transaction() as connection:
            await add_usage(connection, event.turn_id, context.models.usage.as_json())
        await tracing.flush(sandbox.environ, invocation.margin())
    count("memory_updates", result=result)
    return {"result": result}


async def _update(assistant: Assistant, context: TurnContext) -> str:
    if assistant.remember is None:
        return "skipped"
    for _ in range(ATTEMPTS):
        before = await read_preferences(context.database, context.turn.user_id)
        items = await assistant.remember(context)
        if items is None or list(items) == list(before.items):
            return "skipped"
        if await _swap(context.database, context, items, before.version):
            return "updated"
    return "superseded"


async def _swap(database: TenantDatabase, context: TurnContext, items: Any, version: int) -> bool:
    try:
        turn = context.turn
        await write_preferences(database, turn.user_id, items, version, turn_created_at=turn.created_at)
    except ConflictError:
        return False
    return True


async def _no_token() -> None:
    """Memory calls no tool."""
