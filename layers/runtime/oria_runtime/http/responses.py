"""What clients get (DESIGN §6). Fields may be added, none changes."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from oria_runtime.knowledge.overview import SourceOverview
from oria_runtime.turns.models import InputType, OutcomeType, Turn, TurnStatus


class ResponseBody(BaseModel):
    """Read from the engine's nouns by attribute."""

    model_config = ConfigDict(from_attributes=True)


TURN_EXAMPLE: JsonDict = {
    "id": "9a1f4c80-2c6d-4f4e-8f2b-1e7a5d3c9b02",
    "conversation_id": "2f0b9c1e-6a57-4b0f-9a63-5f1f0f2f7c11",
    "assistant": "oria",
    "agent": "training_finder",
    "status": "completed",
    "stage": None,
    "locale": "en",
    "outcome": {
        "type": "message",
        "text": "Here are two trainings.",
        "decision": None,
        "cards": [{"type": "trainings", "items": []}],
        "sources": [],
        "interaction": None,
        "error": None,
    },
    "usage": {},
    "created_at": "2026-01-01T09:00:00Z",
}


class OptionView(ResponseBody):
    """A finite choice."""

    id: str
    label: str


class QuestionView(ResponseBody):
    """One question of an interaction."""

    id: str
    text: str
    input_type: InputType
    options: list[OptionView]
    allow_free_text: bool
    required: bool


class InteractionView(ResponseBody):
    """Questions that a turn waits for."""

    id: UUID
    questions: list[QuestionView]
    expires_at: datetime | None = None


class OutcomeError(ResponseBody):
    """Why a turn failed."""

    code: str
    retryable: bool


class SourceView(ResponseBody):
    """Where an answer comes from."""

    title: str
    url: str


class OutcomeView(ResponseBody):
    """What a turn has to show."""

    type: OutcomeType
    text: str
    decision: Literal["block", "doubt"] | None = None
    cards: list[dict[str, Any]] = Field(default_factory=list)
    sources: list[SourceView] = Field(default_factory=list)
    interaction: InteractionView | None = None
    error: OutcomeError | None = None


class TurnView(ResponseBody):
    """A turn: one message until its outcome."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [TURN_EXAMPLE]})

    id: UUID
    conversation_id: UUID
    assistant: str
    agent: str | None
    status: TurnStatus
    stage: str | None
    locale: str
    outcome: OutcomeView | None
    usage: dict[str, Any] = Field(description="Tokens and cost by task label; `cost` is null where no price is known.")
    created_at: datetime

    @classmethod
    def of(cls, turn: Turn) -> "TurnView":
        return cls.model_validate(turn)


class ConversationView(ResponseBody):
    """A person's thread with one assistant."""

    id: UUID
    assistant: str
    locale: str | None
    title: str | None
    created_at: datetime
    updated_at: datetime
    active_turn_id: UUID | None
    simulation: dict[str, Any] | None = Field(
        default=None, description="The card of the simulation that is practised here; null in other conversations."
    )


class ConversationPage(ResponseBody):
    """Conversations, the last used first."""

    items: list[ConversationView]
    next_cursor: str | None = Field(description="Give it as `before` for the next page; null at the end.")


class OwnFeedback(ResponseBody):
    """The caller's feedback on a message."""

    rating: Literal["up", "down"]
    comment: str | None


class MessageView(ResponseBody):
    """An entry of the transcript."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    cards: list[dict[str, Any]]
    sources: list[SourceView]
    turn_id: UUID
    at: datetime
    position: int
    feedback: OwnFeedback | None = Field(default=None, description="What the caller thinks of it; null without.")


class MessagePage(ResponseBody):
    """Messages, the oldest first."""

    items: list[MessageView]
    next_cursor: str | None = Field(description="Give it as `after` for the next page; null at the end.")


class FeedbackView(ResponseBody):
    """Feedback on an answer. `trace_id` is the turn's trace where tracing is configured."""

    message_id: UUID
    turn_id: UUID
    trace_id: str
    status: Literal["given", "changed", "withdrawn"]
    rating: Literal["up", "down"] | None
    comment: str | None
    created_at: datetime
    updated_at: datetime


class DocumentWarning(ResponseBody):
    """Something of a document that its text does not have."""

    code: Literal["pages_without_text"]
    pages: list[int] = Field(description="Pages that are pictures only, counted from 1.")


class DocumentView(ResponseBody):
    """A document of a conversation."""

    name: str
    media_type: str
    bytes: int
    pages: int | None = Field(description="Null for formats without pages.")
    characters: int = Field(description="Length of the extracted text.")
    title: str | None
    warnings: list[DocumentWarning]
    created_at: datetime
    updated_at: datetime


class DocumentTextView(DocumentView):
    """A document with its text."""

    text: str


class DocumentList(ResponseBody):
    """All documents of a conversation, the oldest first."""

    items: list[DocumentView]


class UploadView(ResponseBody):
    """How to send one large file: a multipart POST to `url` with `fields` first and the part `file` last."""

    upload_id: UUID
    url: str
    fields: dict[str, str]
    expires_at: datetime
    max_bytes: int


class FactView(ResponseBody):
    """A supported match."""

    name: Literal["topic", "mandatory", "gaps", "objective_skills", "own_skills", "interests"]
    values: list[str]


class RationaleView(ResponseBody):
    """Why a training fits the caller."""

    training_id: str
    title: str
    text: str
    facts: list[FactView] = Field(description="All that the text may rest on.")
    source: Literal["model", "facts"] = Field(description="Who worded the text; `facts` is the fixed form.")
    usage: dict[str, Any] = Field(description="Tokens and cost by task label; `cost` is null where no price is known.")


class RefreshError(ResponseBody):
    """Why a refresh failed."""

    reason: str = Field(description="A code.")
    detail: str


class RefreshView(ResponseBody):
    """One pass over a source."""

    id: UUID
    trigger: Literal["schedule", "manual"]
    status: Literal["running", "completed", "failed"]
    counts: dict[str, int] = Field(description="Documents by outcome, chunks, and how many were embedded.")
    error: RefreshError | None
    started_at: datetime
    finished_at: datetime | None


class RefreshList(ResponseBody):
    """Refreshes of a source, the newest first."""

    items: list[RefreshView]


class KnowledgeSourceView(ResponseBody):
    """A place that knowledge comes from."""

    id: UUID
    name: str
    kind: Literal["web", "sitemap", "s3", "upload"]
    location: str | None
    origins: list[str]
    path_prefixes: list[str]
    max_depth: int
    max_documents: int
    cadence_seconds: int
    status: Literal["active", "disabled"]
    next_refresh_at: datetime
    created_by: str
    created_at: datetime
    updated_at: datetime
    documents: dict[str, int] = Field(description="How many documents have which status.")
    last_refresh: RefreshView | None = Field(description="The running one, or the last one; null before the first.")

    @classmethod
    def of(cls, overview: SourceOverview) -> "KnowledgeSourceView":
        known = {"documents": overview.documents, "last_refresh": overview.last_refresh}
        source = {name: getattr(overview.source, name) for name in cls.model_fields.keys() - known.keys()}
        return cls.model_validate(source | known)


class KnowledgeSourceList(ResponseBody):
    """The tenant's sources, by name."""

    items: list[KnowledgeSourceView]


class KnowledgeDocumentView(ResponseBody):
    """A document of a source. A `reason` says why it is not, or not wholly, as it should be."""

    id: UUID
    location: str
    title: str | None
    language: str | None
    media_type: str | None
    status: Literal["indexed", "empty", "refused", "unreachable", "gone"]
    reason: str | None
    warnings: list[dict[str, Any]]
    missing_since: datetime | None
    checked_at: datetime
    changed_at: datetime
    chunks: int


class KnowledgeDocumentPage(ResponseBody):
    """Documents of a source, by location."""

    items: list[KnowledgeDocumentView]
    next_cursor: UUID | None = Field(description="Give it as `after` for the next page; null at the end.")


class KnowledgeFileView(ResponseBody):
    """A file of an upload source."""

    name: str
    bytes: int
    changed_at: datetime


class KnowledgeFileList(ResponseBody):
    """The files of an upload source, by name."""

    items: list[KnowledgeFileView]


class FileUploadView(ResponseBody):
    """How to send one large file: a multipart POST to `url` with `fields` first and the part `file` last."""

    url: str
    fields: dict[str, str]
    expires_at: datetime
    max_bytes: int


class QueryDayView(ResponseBody):
    """The searches of one day (UTC)."""

    day: date
    queries: int
    empty: int = Field(description="Searches that found nothing.")
    text_only: int = Field(description="Searches whose question could not be embedded.")
    median_milliseconds: float
    p95_milliseconds: float
    hits: dict[UUID, int] = Field(description="How many searches found something in a source, by its id.")


class KnowledgeMetrics(ResponseBody):
    """What searches of the knowledge found, the oldest day first. No question is kept."""

    items: list[QueryDayView]


class PreferencesView(ResponseBody):
    """What is remembered about the caller."""

    items: list[str]
    version: int


class AgentView(ResponseBody):
    """A specialist of an assistant."""

    id: str
    name: str
    description: str


class AssistantView(ResponseBody):
    """An assistant, with the agents that the caller's tenant enables."""

    id: str
    name: str
    description: str
    agents: list[AgentView]
    needs_simulation: bool = Field(
        default=False, description="Its conversations are begun with the `simulation_id` of a card."
    )


class AssistantList(ResponseBody):
    """All of them."""

    items: list[AssistantView]


class HealthView(ResponseBody):
    """`ok`, or what fails, part by part."""

    status: Literal["ok", "failing"]
    checks: Mapping[str, Literal["ok", "failing"]] = Field(examples=[{"database": "ok", "schema": "ok", "bus": "ok"}])
