"""Connections: one pool for the life of a sandbox, and transactions that carry the tenant.

Row-level security reads `app.tenant`, which is set per transaction (`set_config(..., true)`), because a session
setting pins RDS Proxy and does not survive PgBouncer in transaction mode.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

Connection = AsyncConnection[DictRow]
Pool = AsyncConnectionPool[Connection]

# A frozen sandbox thaws with dead sockets; a check that hangs on one would outlive the pool's own timeout, because
# psycopg waits for its cancel. Keepalives bound it on TCP (tcp_user_timeout is in milliseconds).
CONNECTION_ARGUMENTS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,
    "row_factory": dict_row,
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 5000,
}
CHECK_SECONDS = 1.0

BEGIN_SQL = sql.SQL("begin isolation level {}; select set_config('app.tenant', {}, true)")


async def check_connection(connection: Connection) -> None:
    """Fail fast on a connection that died while the sandbox was frozen."""
    async with asyncio.timeout(CHECK_SECONDS):
        await AsyncConnectionPool.check_connection(connection)


def create_pool(url: str, *, max_size: int, name: str = "oria", timeout: float = 5.0) -> Pool:
    """An unopened pool; open it inside the sandbox's loop. It connects on first use."""
    return AsyncConnectionPool(
        url,
        kwargs=CONNECTION_ARGUMENTS | {"application_name": name},
        connection_class=AsyncConnection[DictRow],
        min_size=0,
        max_size=max_size,
        timeout=timeout,
        check=check_connection,
        open=False,
        name=name,
    )


class TenantDatabase:
    """The database as one tenant sees it: every transaction carries the tenant's setting."""

    def __init__(self, pool: Pool, tenant_id: UUID) -> None:
        self.pool = pool
        self.tenant_id = tenant_id

    @asynccontextmanager
    async def transaction(self, *, snapshot: bool = False) -> AsyncIterator[Connection]:
        """A connection inside a transaction under the tenant's row-level security. With `snapshot` all of its
        statements see the database as it was at the first one."""
        if self.pool.closed:
            await self.pool.open()
        async with self.pool.connection() as connection:
            # One round trip; the pool's context commits, or rolls back when something was raised.
            isolation = sql.SQL("repeatable read" if snapshot else "read committed")
            await connection.execute(BEGIN_SQL.format(isolation, sql.Literal(str(self.tenant_id))))
            yield connection
