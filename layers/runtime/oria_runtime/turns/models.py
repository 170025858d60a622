"""The nouns of the engine: turn, outcome, question, answer, interaction, event. Shapes: DESIGN §6."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID


class TurnStatus(StrEnum):
    """The life of a turn. The last four are terminal, and the first terminal one is final."""

    QUEUED = "queued"
    ACCEPTED = "accepted"
    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        return self in TERMINAL


TERMINAL = frozenset({TurnStatus.COMPLETED, TurnStatus.BLOCKED, TurnStatus.FAILED, TurnStatus.CANCELLED})


class EventType(StrEnum):
    """Events of a turn, version 1 (DESIGN §6)."""

    RUN_ACCEPTED = "run.accepted"
    STAGE_STARTED = "stage.started"
    ACTIVITY_STARTED = "activity.started"
    ACTIVITY_COMPLETED = "activity.completed"
    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    INTERACTION_REQUESTED = "interaction.requested"
    INTERACTION_REJECTED = "interaction.rejected"
    RUN_COMPLETED = "run.completed"
    RUN_BLOCKED = "run.blocked"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"


TERMINAL_EVENTS: Mapping[TurnStatus, EventType] = {
    TurnStatus.COMPLETED: EventType.RUN_COMPLETED,
    TurnStatus.BLOCKED: EventType.RUN_BLOCKED,
    TurnStatus.FAILED: EventType.RUN_FAILED,
    TurnStatus.CANCELLED: EventType.RUN_CANCELLED,
}


@dataclass(frozen=True)
class Event:
    """One progress record. `data` holds no more than a client needs to draw it."""

    type: EventType
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredEvent:
    """An event as clients read it: numbered inside its turn."""

    seq: int
    turn_id: UUID
    type: EventType
    at: datetime
    data: Mapping[str, Any]


OutcomeType = Literal["message", "boundary", "interaction", "failure", "cancellation"]


@dataclass(frozen=True)
class Outcome:
    """What a turn has to show. `error` is `{code, retryable}`; cards are `{type, …}`; sources `{title, url}`."""

    type: OutcomeType
    text: str = ""
    decision: Literal["block", "doubt"] | None = None
    cards: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[Mapping[str, str]] = ()
    interaction: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"cards": list(self.cards), "sources": list(self.sources)}


@dataclass(frozen=True)
class Option:
    """A finite choice, answered by its id only."""

    id: str
    label: str


InputType = Literal["text", "single_select", "multi_select"]


@dataclass(frozen=True)
class Question:
    """One question of an interaction."""

    id: str
    text: str
    input_type: InputType = "text"
    options: Sequence[Option] = ()
    allow_free_text: bool = False
    required: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"options": [asdict(option) for option in self.options]}


@dataclass(frozen=True)
class Answer:
    """The reply to one question: a text, option ids, or a skip."""

    question_id: str
    text: str | None = None
    option_ids: Sequence[str] | None = None
    skip: bool = False


@dataclass(frozen=True)
class Turn:
    """A turn as the engine reads it from its row."""

    id: UUID
    tenant_id: UUID
    conversation_id: UUID
    user_id: str
    assistant: str
    status: TurnStatus
    message: str
    locale: str
    seq: int
    stage: str | None
    agent: str | None
    requested_agent: str | None
    interactions: bool
    request: Mapping[str, Any]
    outcome: Mapping[str, Any] | None
    usage: Mapping[str, Any]
    directive: str | None
    head_checkpoint: str | None
    created_at: datetime
    deadline_at: datetime | None

    @property
    def thread_id(self) -> str:
        return f"{self.tenant_id}:{self.conversation_id}"
