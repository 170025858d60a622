"""Tools: one for each agent that the tenant enables, of whatever assistant the registry has."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import mcp_types as types
from pydantic import BaseModel, Field

from oria_runtime.http.requests import Locale, RequestBody, Text, UuidText
from oria_runtime.http.responses import SourceView
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns.assistants import AgentInfo, Assistant, Registry
from oria_runtime.turns.models import TurnStatus


class ToolArguments(RequestBody):
    """What a call says."""

    message: Text = Field(description="What the person asks, in full sentences.")
    conversation_id: UuidText | None = Field(
        default=None, description="Go on with this conversation; a new one begins without."
    )
    locale: Locale | None = Field(default=None, description="Language of the answer, a BCP 47 tag.")


class ToolOutput(BaseModel):
    """What a call gives: the outcome of its turn."""

    conversation_id: UUID
    turn_id: UUID
    status: TurnStatus
    text: str = Field(description="The answer.")
    cards: list[dict[str, Any]] = Field(description="What the answer shows beside the text, by `type`.")
    sources: list[SourceView] = Field(description="Where the answer comes from.")


@dataclass(frozen=True)
class Offer:
    """An agent that the caller may enter."""

    assistant: Assistant
    agent: AgentInfo


def list_offers(registry: Registry, config: TenantConfig) -> dict[str, Offer]:
    """The agents by the names of their tools: their ids, unless an earlier assistant has an agent of that id.

    An assistant whose conversations are started otherwise has none here.
    """
    offers: dict[str, Offer] = {}
    for assistant in registry.values():
        for agent in () if assistant.needs_simulation else assistant.agents(config):
            name = f"{assistant.id}.{agent.id}" if agent.id in offers else agent.id
            offers[name] = Offer(assistant, agent)
    return offers


def describe_tool(name: str, offer: Offer) -> types.Tool:
    """The tool as a client's model reads it."""
    return types.Tool(
        name=name,
        title=offer.agent.name,
        description=offer.agent.description,
        input_schema=ToolArguments.model_json_schema(),
        output_schema=ToolOutput.model_json_schema(mode="serialization"),
        annotations=types.ToolAnnotations(destructive_hint=False, idempotent_hint=False, open_world_hint=False),
    )
