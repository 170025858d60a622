"""Keeping a claim alive, and learning that it is over, on the control connection.

The cancel flag is looked at every half second, because a cancelled stage must stop within one; the lease itself is
written every 5 s only, because each write makes a dead row version.
"""

import asyncio
from enum import Enum
from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolTimeout

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.claim import LEASE_SECONDS, Claim

if TYPE_CHECKING:
    from oria_runtime.turns.rows import Row

LOOK_SECONDS = 0.5
RENEW_SECONDS = 5.0

LOOK_SQL = "select cancel_requested from turns where id = %(turn)s and seq = %(seq)s and claim = %(claim)s"
RENEW_SQL = f"""
update turns set lease_expires_at = now() + interval '{LEASE_SECONDS} seconds'
where id = %(turn)s and seq = %(seq)s and claim = %(claim)s and lease_expires_at > now()
returning cancel_requested
"""  # noqa: S608 - constants only


class LeaseEnd(Enum):
    """Why a stage must stop."""

    LOST = "lost"
    CANCELLED = "cancelled"


async def watch_lease(control: TenantDatabase, claim: Claim) -> LeaseEnd:
    """Renew until the claim is lost or the turn is to be cancelled; says which.

    A database that does not answer is asked again until the lease must have expired by this process's own clock: a
    worker that cannot renew may not commit either.
    """
    loop = asyncio.get_running_loop()
    renewed = loop.time()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        renew = loop.time() - renewed >= RENEW_SECONDS
        started = loop.time()
        try:
            row = await _ask(control, claim, renew=renew)
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError):
            if loop.time() - renewed >= LEASE_SECONDS:
                return LeaseEnd.LOST
            continue
        if row is None:
            return LeaseEnd.LOST
        if row["cancel_requested"]:
            return LeaseEnd.CANCELLED
        if renew:
            renewed = started


async def _ask(control: TenantDatabase, claim: Claim, *, renew: bool) -> "Row | None":
    async with asyncio.timeout(RENEW_SECONDS), control.transaction() as connection:
        return await (await connection.execute(RENEW_SQL if renew else LOOK_SQL, claim.fence)).fetchone()
