"""A tenant and its configuration, validated when it is written and when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oria_runtime.errors import ConfigurationError, NotFoundError

ProfileName = Literal["mini", "large"]


class AgentConfig(BaseModel):
    """What a tenant says of one agent (seeds/oria_orchestration.md, "Tenant-dependent availability")."""

    model_config = ConfigDict(extra="forbid")
    active: bool = True
    tool_exclusion: list[str] = Field(default_factory=list)


class ChatbotConfig(BaseModel):
    """`agents` absent: every agent is available; present: only those listed whose `active` is not false."""

    model_config = ConfigDict(extra="forbid")
    agents: dict[str, AgentConfig] | None = None


class ModelProfile(BaseModel):
    """A semantic model profile. None means: what the deployment's settings say."""

    model_config = ConfigDict(extra="forbid")
    provider: Literal["openai"] = "openai"
    model: str | None = None
    decisions: Literal["native", "structured"] | None = None
    use_responses_api: bool | None = None
    reasoning_effort: str | None = None
    temperature: float | None = None


class EmbeddingConfig(BaseModel):
    """The embedding model, and the similarity that counts as the same job in that model's space."""

    model_config = ConfigDict(extra="forbid")
    model: str | None = None
    job_threshold: float = 0.91


class TenantConfig(BaseModel):
    """The whole configuration of a tenant, stored as JSON in `tenants.config`."""

    model_config = ConfigDict(extra="forbid")
    company_name: str = ""
    bot_name: str = "Oria"
    default_locale: str = "en"
    locales: list[str] = Field(default_factory=lambda: ["en", "fr", "es"])
    chatbot: ChatbotConfig = Field(default_factory=ChatbotConfig)
    models: dict[ProfileName, ModelProfile] = Field(default_factory=dict)
    embedding: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    interaction_expiry_seconds: int = Field(default=7 * 86_400, ge=1)
    retention_days: int = Field(default=365, ge=1)

    def agent(self, agent_id: str) -> AgentConfig | None:
        """The agent's configuration if the tenant enables it, else None."""
        if self.chatbot.agents is None:
            return AgentConfig()
        config = self.chatbot.agents.get(agent_id)
        return config if config is not None and config.active else None


@dataclass(frozen=True)
class Tenant:
    """A customer organisation."""

    id: UUID
    slug: str
    name: str
    config: TenantConfig


READ_TENANT_SQL = "select id, slug, name, config from tenants where id = %s"


def parse_config(stored: Mapping[str, Any]) -> TenantConfig:
    """The configuration of a row. Raises ConfigurationError when somebody stored one that this release refuses."""
    try:
        return TenantConfig.model_validate(stored)
    except ValidationError as error:
        raise ConfigurationError("the tenant's configuration is not valid") from error


async def read_tenant(connection: AsyncConnection[DictRow], tenant_id: UUID) -> Tenant:
    """The tenant of a transaction. Raises NotFoundError when it does not exist, ConfigurationError as above."""
    row = await (await connection.execute(READ_TENANT_SQL, (tenant_id,))).fetchone()
    if row is None:
        raise NotFoundError("unknown tenant")
    return Tenant(row["id"], row["slug"], row["name"], parse_config(row["config"]))
