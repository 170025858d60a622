"""A tenant and its configuration, validated when it is written and when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self
from urllib.parse import urlsplit
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oria_runtime.errors import ConfigurationError, NotFoundError

ProfileName = Literal["mini", "large"]
Provider = Literal["openai", "azure", "ovh", "compatible", "anthropic"]


class AgentConfig(BaseModel):
    """What a tenant says of one agent (seeds/oria_orchestration.md, "Tenant-dependent availability")."""

    model_config = ConfigDict(extra="forbid")
    active: bool = True
    tool_exclusion: list[str] = Field(default_factory=list)


class ChatbotConfig(BaseModel):
    """`agents` absent: every agent is available; present: only those listed whose `active` is not false."""

    model_config = ConfigDict(extra="forbid")
    agents: dict[str, AgentConfig] | None = None


class ModelPrice(BaseModel):
    """What an operator pays, in US dollars per million tokens; it wins over the table of list prices."""

    model_config = ConfigDict(extra="forbid")
    input: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    output: float = Field(default=0.0, ge=0)


class ModelAddress(BaseModel):
    """Which provider serves a model, and where. Keys are the deployment's and never here (docs/architecture.md).

    `deployment` is Azure's name for a model that was deployed there; `base_url` is for `compatible` only.
    """

    model_config = ConfigDict(extra="forbid")
    provider: Provider = "openai"
    model: str | None = None
    deployment: str | None = None
    base_url: str | None = None
    price: ModelPrice | None = None

    @model_validator(mode="after")
    def check_address(self) -> Self:
        if self.provider != "openai" and not (self.model or self.deployment):
            raise ValueError(f"a model of the provider {self.provider} must be named: the deployment has no default")
        if (self.deployment is not None) != (self.provider == "azure"):
            raise ValueError("`deployment` belongs to the provider azure, and azure needs it")
        if self.base_url is not None:
            check_base_url(self.provider, self.base_url)
        return self


class ModelProfile(ModelAddress):
    """A semantic model profile. None means: what the deployment's settings say."""

    decisions: Literal["native", "structured"] | None = None
    use_responses_api: bool | None = None
    reasoning_effort: str | None = None
    temperature: float | None = None

    @model_validator(mode="after")
    def check_wire(self) -> Self:
        if self.decisions == "native" and self.provider in {"azure", "anthropic"}:
            raise ValueError(f"the provider {self.provider} has no decisions endpoint")
        if self.use_responses_api and self.provider == "anthropic":
            raise ValueError("the provider anthropic has no Responses API")
        return self


class EmbeddingConfig(ModelAddress):
    """The embedding model, and the similarity that counts as the same job in that model's space.

    `job_threshold` None: what was calibrated for the model (catalog/matching.py).
    """

    job_threshold: float | None = Field(default=None, ge=-1, le=1)

    @model_validator(mode="after")
    def check_provider(self) -> Self:
        if self.provider == "anthropic":
            raise ValueError("the provider anthropic has no embeddings: name another one for them")
        return self


def check_base_url(provider: Provider, base_url: str) -> None:
    """Raise ValueError for an address that the provider does not take, or that hides more than an address."""
    if provider != "compatible":
        raise ValueError("`base_url` belongs to the provider compatible; the others' addresses are the deployment's")
    parts = urlsplit(base_url)
    # Reading the port raises ValueError for one that is none: here, not in the middle of a turn.
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
        raise ValueError("`base_url` must be an http or https address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("`base_url` must not hold credentials, a query or a fragment")


class OpportunityConfig(BaseModel):
    """Hard filters of every opportunity search, whatever a person asks for ("JOM", DESIGN §9).

    A filter that needs a fact which the person's profile does not have lets nothing through.

    kinds: what may be shown at all; None is no filter.
    open_only: nothing whose last day to apply has passed.
    same_location, same_department: nothing outside the person's own.
    max_classification_distance: how many steps of `classifications`, the tenant's grades from lowest to highest, an
        opportunity may be from the person's own grade; None is no filter.
    """

    model_config = ConfigDict(extra="forbid")
    kinds: list[Literal["job", "project", "mission", "mentoring", "internship"]] | None = None
    open_only: bool = True
    same_location: bool = False
    same_department: bool = False
    classifications: list[str] = Field(default_factory=list)
    max_classification_distance: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _check_grades(self) -> Self:
        if self.max_classification_distance is not None and not self.classifications:
            raise ValueError("max_classification_distance needs the list of classifications")
        return self


class KnowledgeConfig(BaseModel):
    """Where a tenant's knowledge may come from.

    s3_prefixes: `bucket/prefix` of the folders in S3 that its administrators may name as sources. The operator sets
        them, because the function that reads them could read every tenant's.
    """

    model_config = ConfigDict(extra="forbid")
    s3_prefixes: list[str] = Field(default_factory=list)


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
    opportunities: OpportunityConfig = Field(default_factory=OpportunityConfig)
    knowledge: KnowledgeConfig = Field(default_factory=KnowledgeConfig)
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
