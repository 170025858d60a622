"""Path parameters that several routes have."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

ConversationId = Annotated[UUID, Path(description="The `id` of one of the caller's conversations.")]
TurnId = Annotated[UUID, Path(description="The `id` of one of the caller's turns.")]
DocumentName = Annotated[str, Path(description="The document's name, percent-encoded; no `/` in it.")]
MessageId = Annotated[UUID, Path(description="The `id` of one of the assistant's messages.")]
InteractionId = Annotated[UUID, Path(description="The `id` of the interaction in a turn's outcome.")]
SourceId = Annotated[UUID, Path(description="The `id` of one of the tenant's sources of knowledge.")]
