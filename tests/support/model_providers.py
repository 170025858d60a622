"""The providers of a model profile as tests use them: profile, wire, and what their server must see of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.scripted_model import Script


@dataclass(frozen=True)
class Provider:
    """A provider on one wire; `path` and `key` (header and value) are what its server must see."""

    id: str
    profile: Mapping[str, Any]
    endpoint: str
    path: str
    key: tuple[str, str]
    priced: bool = True
    embedding: Mapping[str, Any] = field(default_factory=dict)

    def configure(self, script: Script, **more: Any) -> dict[str, Any]:
        """A tenant's configuration with both profiles on this provider, and its embeddings where it has some."""
        own = {"base_url": script.base_url} if self.profile.get("provider") == "compatible" else {}
        profile = {**self.profile, **own, **more}
        embedding = {**self.embedding, **(own if self.embedding else {})}
        return {"models": {"mini": profile, "large": profile}, "embedding": embedding}


LUNA = "gpt-6-luna"
AZURE = {"provider": "azure", "deployment": "small", "model": LUNA}
AZURE_EMBEDDING = {"provider": "azure", "deployment": "vectors", "model": "text-embedding-3-small"}
VERSION = "?api-version=2025-04-01-preview"

RESPONSES = Provider("openai", {"model": LUNA}, "responses", "/v1/responses", ("authorization", "Bearer scripted"))
COMPLETIONS = Provider(
    "openai-completions",
    {"model": LUNA, "use_responses_api": False},
    "chat/completions",
    "/v1/chat/completions",
    ("authorization", "Bearer scripted"),
)
AZURE_RESPONSES = Provider(
    "azure", AZURE, "responses", f"/openai/responses{VERSION}", ("api-key", "azure-key"), embedding=AZURE_EMBEDDING
)
AZURE_COMPLETIONS = Provider(
    "azure-completions",
    {**AZURE, "use_responses_api": False},
    "chat/completions",
    f"/openai/deployments/small/chat/completions{VERSION}",
    ("api-key", "azure-key"),
)
OVH = Provider(
    "ovh",
    {"provider": "ovh", "model": "Mistral-Small-3.2-24B-Instruct-2506"},
    "chat/completions",
    "/v1/chat/completions",
    ("authorization", "Bearer ovh-key"),
    priced=False,
    embedding={"provider": "ovh", "model": "Qwen3-Embedding-8B"},
)
COMPATIBLE = Provider(
    "compatible",
    {"provider": "compatible", "model": "local-model"},
    "chat/completions",
    "/v1/chat/completions",
    ("authorization", "Bearer compatible-key"),
    priced=False,
    embedding={"provider": "compatible", "model": "local-vectors"},
)
ANTHROPIC = Provider(
    "anthropic",
    {"provider": "anthropic", "model": "claude-haiku-5-5"},
    "messages",
    "/v1/messages",
    ("authorization", "Bearer anthropic-key"),
)
PROVIDERS = (RESPONSES, COMPLETIONS, AZURE_RESPONSES, AZURE_COMPLETIONS, OVH, COMPATIBLE, ANTHROPIC)
