"""Path parameters that several routes have."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

ConversationId = Annotated[UUID, Path(description="The `id` of one of the caller's conversations.")]
TurnId = Annotated[UUID, Path(description="The `id` of one of the caller's turns.")]
InteractionId = Annotated[UUID, Path(description="The `id` of the interaction in a turn's outcome.")]
