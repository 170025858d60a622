"""The providers of models: where each is, and which variable holds its key.

Addresses and keys come from the deployment's environment; a tenant's row names a provider and never a key. The key of
`compatible` goes to the address that the deployment names and to no other: a tenant's profile may name a server of its
own, and that server must not learn the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.errors import ModelAccessError
from oria_runtime.tenancy.tenants import Provider

OPENAI_URL = "https://api.openai.com/v1"
# https://help.ovhcloud.com/csm/en-public-cloud-ai-endpoints-getting-started: one address for every model.
OVH_URL = "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
# The last dated version; it has strict schemas and the Responses API.
AZURE_API_VERSION = "2025-04-01-preview"
# What the SDK sends to a server that wants no key.
NO_KEY = "none"

KEYS: Mapping[Provider, str] = {
    "openai": "OPENAI_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
    "ovh": "OVH_AI_ENDPOINTS_ACCESS_TOKEN",
    "compatible": "COMPATIBLE_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
ADDRESSES: Mapping[Provider, tuple[str, str]] = {
    "openai": ("OPENAI_BASE_URL", OPENAI_URL),
    "azure": ("AZURE_OPENAI_ENDPOINT", ""),
    "ovh": ("OVH_AI_ENDPOINTS_BASE_URL", OVH_URL),
    "compatible": ("COMPATIBLE_BASE_URL", ""),
    "anthropic": ("ANTHROPIC_BASE_URL", ANTHROPIC_URL),
}


@dataclass(frozen=True)
class Endpoint:
    """Where a provider is. The address is always passed on: left out, OPENAI_API_BASE and LANGSMITH_GATEWAY win."""

    base_url: str
    api_key: str = field(repr=False)
    provider: Provider = "openai"
    api_version: str = ""

    def require_key(self) -> str:
        """The key. Raises ModelAccessError when there is none."""
        if not self.api_key:
            raise ModelAccessError(f"{KEYS[self.provider]} is not set")
        return self.api_key

    async def read_key(self) -> str:
        """The key as the async callable that keeps ChatOpenAI from building a second, synchronous client.

        Raises ModelAccessError when there is none.
        """
        return self.require_key()


def read_endpoint(provider: Provider, environ: Mapping[str, str], base_url: str | None = None) -> Endpoint:
    """The endpoint that the environment names; `base_url` is the profile's own. An empty key fails at the first call,
    not at every start. Raises ConfigurationError when nobody names the address."""
    variable, default = ADDRESSES[provider]
    known = environ.get(variable) or default
    address = base_url or known
    if not address:
        raise ConfigurationError(f"the provider {provider} has no address: {variable} is not set")
    key = environ.get(KEYS[provider], "")
    if provider == "compatible":
        key = key if key and read_origin(address) == read_origin(known) else NO_KEY
    version = (environ.get("AZURE_OPENAI_API_VERSION") or AZURE_API_VERSION) if provider == "azure" else ""
    return Endpoint(address.rstrip("/"), key, provider, version)


def read_origin(address: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: what decides who reads a request's headers."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
