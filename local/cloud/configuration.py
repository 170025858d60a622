"""The template's parameters in the local cloud: what a deployment would give it by samconfig.toml and secrets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.cloud.database import DatabaseUrls
from local.cloud.issuer import AUDIENCE, ISSUER, PREFIX
from local.cloud.options import CloudOptions

OFFLINE_EMBEDDING_MODEL = "offline-use-multilingual"
# The SDK insists on a key; the offline model does not look at it.
OFFLINE_KEY = "offline"
# The user's own settings, by the parameter that they fill.
USER_PARAMETERS = {
    "MiniModel": "MINI_MODEL",
    "LargeModel": "LARGE_MODEL",
    "EmbeddingModel": "EMBEDDING_MODEL",
    "OpenAiBaseUrl": "OPENAI_BASE_URL",
    "AzureOpenAiEndpoint": "AZURE_OPENAI_ENDPOINT",
    "AzureOpenAiApiVersion": "AZURE_OPENAI_API_VERSION",
    "CompatibleBaseUrl": "COMPATIBLE_BASE_URL",
    "LangfusePublicKey": "LANGFUSE_PUBLIC_KEY",
    "LangfuseHost": "LANGFUSE_HOST",
    "LogLevel": "LOG_LEVEL",
}


@dataclass(frozen=True)
class Configuration:
    """Where the parts of a cloud are; `model_url` is the offline model's, empty when a provider is configured."""

    options: CloudOptions
    origin: str
    database_urls: DatabaseUrls | None
    model_url: str

    def secrets(self) -> dict[str, str]:
        """Values that go into Secrets Manager, by the parameter that takes the secret's ARN."""
        user = self.options.user
        key = OFFLINE_KEY if self.model_url else user.get("OPENAI_API_KEY", OFFLINE_KEY)
        secrets = {
            "OpenAiSecretArn": key,
            "AzureOpenAiSecretArn": user.get("AZURE_OPENAI_API_KEY", ""),
            "OvhSecretArn": user.get("OVH_AI_ENDPOINTS_ACCESS_TOKEN", ""),
            "CompatibleSecretArn": user.get("COMPATIBLE_API_KEY", ""),
            "AnthropicSecretArn": user.get("ANTHROPIC_API_KEY", ""),
            "LangSmithSecretArn": user.get("LANGSMITH_API_KEY", ""),
            "LangfuseSecretArn": user.get("LANGFUSE_SECRET_KEY", ""),
        }
        if self.database_urls is not None:
            secrets["DatabaseSecretArn"] = self.database_urls.app
            secrets["MigrationDatabaseSecretArn"] = self.database_urls.owner
        return secrets

    def parameters(self) -> dict[str, Any]:
        """The other parameters."""
        user = self.options.user
        parameters: dict[str, Any] = {name: user[key] for name, key in USER_PARAMETERS.items() if user.get(key)}
        if self.model_url:
            parameters |= {"OpenAiBaseUrl": self.model_url, "EmbeddingModel": OFFLINE_EMBEDDING_MODEL}
        return parameters | {
            "PublicOrigin": self.origin,
            "BasePath": self.options.base_path,
            "JwtIssuer": ISSUER,
            "JwtAudience": AUDIENCE,
            "JwtJwksUrl": f"{self.origin}{PREFIX}/jwks.json",
            # A person's own folder is served on this machine (`make knowledge`); nowhere else is that a source.
            "KnowledgeLoopback": "true",
        }

    def model_environment(self) -> dict[str, str]:
        """The provider's variables for a process that is no function, such as the import of the sample tenant."""
        values = {
            name: self.options.user.get(name, "") for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EMBEDDING_MODEL")
        }
        if self.model_url:
            values = {
                "OPENAI_API_KEY": OFFLINE_KEY,
                "OPENAI_BASE_URL": self.model_url,
                "EMBEDDING_MODEL": OFFLINE_EMBEDDING_MODEL,
            }
        return {name: value for name, value in values.items() if value}


def override_environment(environ: Mapping[str, str], options: CloudOptions, function: str) -> dict[str, str]:
    """A function's variables with those of the options over the template's."""
    return {**environ, **options.environ, **options.function_environ.get(function, {})}
