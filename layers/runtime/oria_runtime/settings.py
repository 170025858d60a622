"""Settings of a deployment, built from a mapping: the environment is an argument, never read by domain code.

The table of variables is in docs/architecture.md; a test compares it with these classes and with template.yaml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oria_runtime.errors import ConfigurationError


@dataclass(frozen=True)
class ModelSettings:
    """What a tenant's model profiles fall back on. Keys and addresses of providers are read by their own SDKs."""

    mini: str = "gpt-6-luna"
    large: str = "gpt-6-sol"
    embedding: str = "text-embedding-3-small"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "ModelSettings":
        return cls(
            mini=environ.get("MINI_MODEL") or cls.mini,
            large=environ.get("LARGE_MODEL") or cls.large,
            embedding=environ.get("EMBEDDING_MODEL") or cls.embedding,
        )


@dataclass(frozen=True)
class TokenSettings:
    """How bearer tokens are verified (DESIGN §6)."""

    issuer: str
    audience: str
    jwks_url: str
    tenant_claim: str = "tenant"
    user_claim: str = "sub"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "TokenSettings":
        return cls(
            issuer=require(environ, "JWT_ISSUER"),
            audience=require(environ, "JWT_AUDIENCE"),
            jwks_url=require(environ, "JWT_JWKS_URL"),
            tenant_claim=environ.get("JWT_TENANT_CLAIM") or cls.tenant_claim,
            user_claim=environ.get("JWT_USER_CLAIM") or cls.user_claim,
        )


@dataclass(frozen=True)
class Settings:
    """What every function needs: the database, the bus, the registry of assistants."""

    database_url: str = field(repr=False)
    event_bus: str = "oria"
    assistants: str = "graph.registry:ASSISTANTS"
    schema: str = "oria"
    kms_key_id: str = ""
    public_base_url: str = ""
    cors_origins: tuple[str, ...] = ()
    uploads_bucket: str = ""
    knowledge_bucket: str = ""
    refresh_queue_url: str = ""
    allow_loopback: bool = False
    models: ModelSettings = field(default_factory=ModelSettings)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        return cls(
            database_url=require(environ, "DATABASE_URL"),
            event_bus=environ.get("EVENT_BUS_NAME") or cls.event_bus,
            assistants=environ.get("ASSISTANTS") or cls.assistants,
            schema=environ.get("PG_SCHEMA") or cls.schema,
            kms_key_id=environ.get("KMS_KEY_ID", ""),
            public_base_url=environ.get("PUBLIC_BASE_URL", "").rstrip("/"),
            cors_origins=tuple(filter(None, environ.get("CORS_ORIGINS", "").replace(",", " ").split())),
            uploads_bucket=environ.get("UPLOADS_BUCKET", ""),
            knowledge_bucket=environ.get("KNOWLEDGE_BUCKET", ""),
            refresh_queue_url=environ.get("REFRESH_QUEUE_URL", ""),
            allow_loopback=environ.get("KNOWLEDGE_LOOPBACK", "") == "true",
            models=ModelSettings.from_environ(environ),
        )


def require(environ: Mapping[str, str], name: str) -> str:
    """The value of a variable that has no default. Raises ConfigurationError naming it."""
    value = environ.get(name)
    if not value:
        raise ConfigurationError(f"the environment variable {name} is not set")
    return value
