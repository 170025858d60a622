"""The life of one Lambda sandbox: one event loop, one set of pools, one client per AWS service.

`asyncio.run` per invocation would break a pool after its first lost connection, and a new pool per invocation costs
4 ms (measured): so the loop lives as long as the sandbox. Nothing happens at import; handlers call `get_sandbox()`.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping, MutableMapping
from functools import cache, cached_property
from typing import Any, TypeVar
from uuid import UUID

from oria_runtime.db.pool import Pool, TenantDatabase, create_pool
from oria_runtime.publisher import EventBridgePublisher, Publisher
from oria_runtime.secrets import resolve_secrets
from oria_runtime.settings import Settings
from oria_runtime.tenancy.sealed_context import ContextSealer
from oria_runtime.turns.assistants import Registry, load_registry

Result = TypeVar("Result")

# A stage's graph, its saver and its commit take turns on one connection (DESIGN §3). A stage waits long, because a
# tool's query may hold it, and its own deadline ends the wait; a request is better told that the database is away.
DATA_CONNECTIONS = 1
STAGE_WAIT_SECONDS = 30.0
REQUEST_WAIT_SECONDS = 5.0


class Sandbox:
    """What invocations share. Tests build one with their own environment, registry and publisher."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        registry: Registry | None = None,
        publisher: Publisher | None = None,
        data_connections: int = DATA_CONNECTIONS,
    ) -> None:
        self.environ = environ
        self._registry = registry
        self._publisher = publisher
        self._data_connections = data_connections

    @cached_property
    def settings(self) -> Settings:
        return Settings.from_environ(self.environ)

    @cached_property
    def registry(self) -> Registry:
        return self._registry or load_registry(self.settings.assistants)

    @cached_property
    def publisher(self) -> Publisher:
        return self._publisher or EventBridgePublisher(self.settings.event_bus)

    @cached_property
    def sealer(self) -> ContextSealer:
        return ContextSealer(self.settings.kms_key_id)

    @cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        return loop

    @cached_property
    def pool(self) -> Pool:
        """Connections for everything a request does."""
        wait = STAGE_WAIT_SECONDS if "STAGE" in self.environ else REQUEST_WAIT_SECONDS
        return create_pool(self.settings.database_url, max_size=self._data_connections, name="oria", timeout=wait)

    @cached_property
    def control_pool(self) -> Pool:
        """One connection for leases, cancel flags and progress: a slow query of a tool must not starve them."""
        return create_pool(self.settings.database_url, max_size=1, name="oria-control")

    def database(self, tenant_id: UUID) -> TenantDatabase:
        return TenantDatabase(self.pool, tenant_id)

    def control(self, tenant_id: UUID) -> TenantDatabase:
        return TenantDatabase(self.control_pool, tenant_id)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run one invocation on the sandbox's loop."""
        return self.loop.run_until_complete(work)

    async def open(self) -> None:
        """Start the pools outside of any stage, so that their own tasks are not taken for what a stage left behind."""
        for pool in (self.pool, self.control_pool):
            if pool.closed:
                await pool.open()

    async def close(self) -> None:
        """Give the connections back; Lambda never calls it, tests and local programs do."""
        for name in ("pool", "control_pool"):
            if name in self.__dict__:
                await getattr(self, name).close()


@cache
def get_sandbox() -> Sandbox:
    """The sandbox of this process, from its environment with secrets resolved."""
    environ: MutableMapping[str, str] = os.environ
    resolve_secrets(environ)
    return Sandbox(environ, data_connections=int(environ.get("DATABASE_CONNECTIONS") or DATA_CONNECTIONS))
