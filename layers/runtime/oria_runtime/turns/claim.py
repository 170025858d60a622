"""Claiming a stage: a `(turn, seq)` is claimed once, by a random token, in one conditional UPDATE (DESIGN §2.1).

Duplicates, stale and reordered events find nothing to claim. An expired lease leads to a decision elsewhere, never to a
second claim of the same number: tools may have run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import InvalidRequestError
from oria_runtime.tenancy.tenants import Tenant, parse_config
from oria_runtime.turns.models import EventType, Turn
from oria_runtime.turns.rows import Row, turn_from_row

LEASE_SECONDS = 20
# The directive of a first stage that judges answers instead of running the graph.
JUDGE_ANSWERS = "answers"

CLAIM_SQL = f"""
with claimed as (
    update turns set claim = %(token)s, claim_request_id = %(request)s, claimed_at = now(), status = 'running',
        lease_expires_at = now() + interval '{LEASE_SECONDS} seconds', started_at = coalesce(started_at, now()),
        event_seq = event_seq + 1
    where id = %(turn)s and seq = %(seq)s and stage = %(stage)s and claim is null
        and status in ('accepted', 'running') and not cancel_requested
    returning *, clock_timestamp() > deadline_at as overdue
), told as (
    insert into turn_events (turn_id, event_seq, tenant_id, type, data)
    select id, event_seq, tenant_id, '{EventType.STAGE_STARTED.value}', %(started)s from claimed
)
select claimed.*, tenants.slug, tenants.name as tenant_name, tenants.config, i.id as interaction_id, i.interrupt_id,
    i.questions, i.response, i.status as interaction_status
from claimed join tenants on tenants.id = claimed.tenant_id
left join lateral (
    select * from interactions where turn_id = claimed.id and status in ('reserved', 'answered')
    order by created_at desc limit 1
) as i on true
"""  # noqa: S608 - constants only


@dataclass(frozen=True)
class StageEvent:
    """What the bus says: run this stage, under this number."""

    tenant_id: UUID
    turn_id: UUID
    seq: int
    stage: str

    @classmethod
    def from_bus(cls, event: Mapping[str, Any]) -> "StageEvent":
        """Parse an EventBridge event. Raises InvalidRequestError for anything else."""
        try:
            detail = event["detail"]
            seq, stage = detail["seq"], detail["stage"]
            if type(seq) is not int or type(stage) is not str:
                raise TypeError("seq is an integer, stage a text")
            return cls(UUID(detail["tenant_id"]), UUID(detail["turn_id"]), seq, stage)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidRequestError("not a turn.stage event") from error


@dataclass(frozen=True)
class Interaction:
    """An interaction whose response this stage judges or resumes with."""

    id: UUID
    interrupt_id: str
    questions: list[dict[str, Any]]
    response: Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A claimed stage: the turn as the claim found it, and what fences every write of it."""

    turn: Turn
    token: UUID
    seq: int
    stage: str
    tenant_row: Mapping[str, Any]
    overdue: bool
    stage_map_hash: str
    resume_stage: str | None
    budgets: Mapping[str, float]
    sealed: bytes | None
    sealed_expires_at: datetime | None
    interaction: Interaction | None

    @cached_property
    def tenant(self) -> Tenant:
        """Parsed after the claim: what cannot be read then is a decided failure. Raises ConfigurationError."""
        row = self.tenant_row
        return Tenant(self.turn.tenant_id, row["slug"], row["tenant_name"], parse_config(row["config"]))

    @property
    def fence(self) -> dict[str, Any]:
        """Arguments that identify this claim in SQL."""
        return {"turn": self.turn.id, "seq": self.seq, "claim": self.token}

    @property
    def judges_answers(self) -> bool:
        return self.turn.directive == JUDGE_ANSWERS


async def claim_stage(database: TenantDatabase, event: StageEvent, request_id: str) -> Claim | None:
    """Claim the stage for this invocation; None when there is nothing to claim."""
    arguments = {
        "token": uuid4(),
        "request": request_id,
        "turn": event.turn_id,
        "seq": event.seq,
        "stage": event.stage,
        "started": Jsonb({"stage": event.stage}),
    }
    async with database.transaction() as connection:
        row = await (await connection.execute(CLAIM_SQL, arguments)).fetchone()
    return _claim(row) if row is not None else None


def _claim(row: Row) -> Claim:
    return Claim(
        turn=turn_from_row(row),
        token=row["claim"],
        seq=row["seq"],
        stage=row["stage"],
        tenant_row={name: row[name] for name in ("slug", "tenant_name", "config")},
        overdue=row["overdue"],
        stage_map_hash=row["stage_map_hash"],
        resume_stage=row["resume_stage"],
        budgets=row["budgets"],
        sealed=bytes(row["sealed_context"]) if row["sealed_context"] is not None else None,
        sealed_expires_at=row["sealed_expires_at"],
        interaction=_interaction(row),
    )


def _interaction(row: Row) -> Interaction | None:
    if row["interaction_id"] is None:
        return None
    return Interaction(row["interaction_id"], row["interrupt_id"], row["questions"], row["response"])
