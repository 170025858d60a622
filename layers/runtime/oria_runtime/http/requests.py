"""What clients send. Unknown fields are refused: a misspelt one would be silently ignored otherwise."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from oria_runtime.documents.names import normalize_name
from oria_runtime.http import limits
from oria_runtime.http.images import check_image
from oria_runtime.knowledge.limits import (
    DEFAULT_CADENCE_SECONDS,
    DEFAULT_DEPTH,
    DEFAULT_DOCUMENTS,
    MAX_CADENCE_SECONDS,
    MAX_DEPTH,
    MAX_DOCUMENTS,
    MIN_CADENCE_SECONDS,
    ORIGINS,
    PATH_PREFIXES,
    PREFIX_CHARACTERS,
    SOURCE_NAME_CHARACTERS,
)
from oria_runtime.knowledge.locations import LOCATION_CHARACTERS
from oria_runtime.tenancy.language import LOCALE_LIMIT, LOCALE_PATTERN
from oria_runtime.turns.models import Answer


class RequestBody(BaseModel):
    """Strict: the number 1 is not the string "1", and not true."""

    model_config = ConfigDict(extra="forbid", strict=True)


def check_not_blank(text: str) -> str:
    """Refuse a text of white space only."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.MESSAGE_CHARACTERS), AfterValidator(check_not_blank)
]
AnswerText = Annotated[str, StringConstraints(min_length=1, max_length=limits.ANSWER_CHARACTERS)]
Preference = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.PREFERENCE_CHARACTERS), AfterValidator(check_not_blank)
]
Comment = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.COMMENT_CHARACTERS), AfterValidator(check_not_blank)
]
Locale = Annotated[str, StringConstraints(pattern=LOCALE_PATTERN, max_length=LOCALE_LIMIT)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME_CHARACTERS)]
AttachedName = Annotated[Name, AfterValidator(normalize_name)]
AgentId = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,63}$")]
UuidText = Annotated[str, StringConstraints(max_length=64), Field(json_schema_extra={"format": "uuid"})]
Image = Annotated[
    str,
    StringConstraints(min_length=1, max_length=limits.IMAGE_BYTES * 4 // 3 + 64),
    AfterValidator(check_image),
    Field(json_schema_extra={"contentEncoding": "base64"}),
]


class NewConversation(RequestBody):
    """Where a conversation starts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"assistant": "oria", "locale": "en"}]})
    assistant: Name = Field(description="An id of `GET /v1/assistants`.")
    locale: Locale | None = Field(default=None, description="Language of the conversation, a BCP 47 tag.")
    simulation_id: UuidText | None = Field(
        default=None, description="From the card of the simulation to practise; for assistants that need one only."
    )


class NewTurn(RequestBody):
    """One message of the person."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"message": "I want to learn Python", "agent": "training_finder", "locale": "en"}]
        }
    )
    message: Text = Field(description="What the person says.")
    agent: AgentId | None = Field(default=None, description="Enter this agent directly; gate and memory still run.")
    locale: Locale | None = Field(
        default=None, description="Language of this turn. Another than the tenant's: ignored."
    )
    interactions: bool = Field(default=True, description="Whether the turn may pause for questions.")
    attachments: list[AttachedName] = Field(
        default_factory=list, max_length=limits.ATTACHMENTS, description="Names of documents of the conversation."
    )
    confirmation: bool | None = Field(default=None, description="The person pressed a confirmation button.")
    image: Image | None = Field(default=None, description="A PNG, JPEG, GIF or WebP picture in base64, at most 3 MB.")
    on_conflict: Literal["reject", "enqueue", "interrupt"] = Field(
        default="reject", description="What to do when a turn is active: 409, wait behind it, or cancel it."
    )

    @property
    def extras(self) -> dict[str, Any]:
        """What the engine hands to the graph as it is."""
        return self.model_dump(include={"attachments", "confirmation", "image"}, exclude_defaults=True)


class ChatMessage(NewTurn):
    """A message with the conversation it belongs to, or without one to begin a new one."""

    conversation_id: UuidText | None = Field(default=None, description="Go on with this conversation.")
    assistant: Name | None = Field(
        default=None, description="Assistant of a new conversation; the first one if absent."
    )


class GivenAnswer(RequestBody):
    """The answer to one question: exactly one of `text`, `option_ids` and `skip`."""

    question_id: Name
    text: AnswerText | None = None
    option_ids: list[Name] | None = Field(default=None, min_length=1, max_length=limits.OPTIONS)
    skip: Literal[True] | None = None

    @model_validator(mode="after")
    def check_one(self) -> Self:
        """Refuse none and several."""
        if sum(value is not None for value in (self.text, self.option_ids, self.skip)) != 1:
            raise ValueError("needs exactly one of text, option_ids and skip")
        return self

    def as_answer(self) -> Answer:
        return Answer(self.question_id, self.text, self.option_ids, bool(self.skip))


class InteractionResponse(RequestBody):
    """All answers at once, or the wish to stop."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"answers": [{"question_id": "level", "option_ids": ["beginner"]}]}, {"cancel": True}]
        }
    )
    answers: list[GivenAnswer] | None = Field(default=None, min_length=1, max_length=limits.ANSWERS)
    cancel: Literal[True] | None = Field(default=None, description="End the workflow without answering.")

    @model_validator(mode="after")
    def check_one(self) -> Self:
        """Refuse neither and both."""
        if (self.answers is None) == (self.cancel is None):
            raise ValueError("needs either answers or cancel")
        return self


class TakenUpload(RequestBody):
    """A file that was uploaded before, to be taken as a document."""

    upload_id: UuidText = Field(description="From the answer that allowed the upload.")


class NewFeedback(RequestBody):
    """What the person thinks of an answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rating": "down", "comment": "Not my job."}]})
    rating: Literal["up", "down"]
    comment: Comment | None = None


class NewRationale(RequestBody):
    """What an explanation of one training may refer to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"search_query": "data visualisation", "locale": "en"}]})
    search_query: Text | None = Field(
        default=None, description="What the person searched for; a card's `rationaleContext` has it."
    )
    locale: Locale | None = Field(default=None, description="Language of the explanation, a BCP 47 tag.")


SourceName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=SOURCE_NAME_CHARACTERS),
    AfterValidator(check_not_blank),
    AfterValidator(str.strip),
]
SourceUrl = Annotated[str, StringConstraints(min_length=1, max_length=LOCATION_CHARACTERS)]
PathPrefix = Annotated[str, StringConstraints(min_length=1, max_length=PREFIX_CHARACTERS)]
Depth = Annotated[int, Field(ge=0, le=MAX_DEPTH, description="Links from the entry that are followed (web).")]
Documents = Annotated[int, Field(ge=1, le=MAX_DOCUMENTS, description="Documents that are read at most.")]
Cadence = Annotated[
    int, Field(ge=MIN_CADENCE_SECONDS, le=MAX_CADENCE_SECONDS, description="Seconds from refresh to refresh.")
]


class NewSource(RequestBody):
    """A place that knowledge comes from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "Intranet", "kind": "web", "location": "https://intranet.example.com/policies/"}]
        }
    )
    name: SourceName
    kind: Literal["web", "sitemap", "s3", "upload"]
    location: SourceUrl | None = Field(
        default=None,
        description="The entry page (web), the sitemap's URL (sitemap) or `s3://bucket/prefix` (s3); none for uploads.",
    )
    origins: list[SourceUrl] = Field(
        default=[], max_length=ORIGINS, description="What may be read, as `https://host`; without: the location's own."
    )
    path_prefixes: list[PathPrefix] = Field(
        default=[], max_length=PATH_PREFIXES, description="Paths that may be read; without: the location's folder."
    )
    max_depth: Depth = DEFAULT_DEPTH
    max_documents: Documents = DEFAULT_DOCUMENTS
    cadence_seconds: Cadence = DEFAULT_CADENCE_SECONDS


class ChangedSource(RequestBody):
    """What changes of a source; what is left out stays. Another place is another source."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "disabled"}]})
    name: SourceName | None = None
    status: Literal["active", "disabled"] | None = None
    max_depth: Depth | None = None
    max_documents: Documents | None = None
    cadence_seconds: Cadence | None = None


class NewPreferences(RequestBody):
    """The whole list of what is remembered about the person."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": ["I prefer remote work"], "version": 3}]})
    items: list[Preference] = Field(max_length=limits.PREFERENCES)
    version: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="Write only over this version (compare and swap); else 409."
    )
