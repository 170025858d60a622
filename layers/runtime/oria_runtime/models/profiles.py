"""Semantic model profiles: what `mini` and `large` mean for a tenant.

A tenant's configuration wins, the deployment's settings fill the gaps. What a model can do comes from the model data of
langchain-openai and langchain-anthropic, except for Decisions, which that data does not know.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from oria_runtime.models.prices import Price
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelAddress, ModelPrice, ModelProfile, ProfileName, Provider, TenantConfig

# https://platform.openai.com/docs/guides/decisions: the only family that serves the endpoint, alone or as a snapshot.
DECISION_MODELS = re.compile(r"gpt-6-luna(-\d{4}-\d{2}-\d{2})?")


@dataclass(frozen=True)
class ResolvedModel:
    """A model with its provider. `deployment` is Azure's, `base_url` a compatible server's, `price` the operator's."""

    model: str
    provider: Provider = "openai"
    deployment: str | None = None
    base_url: str | None = None
    price: Price | None = None

    def name_served(self, served: str | None) -> str:
        """The model that an answer is charged as. Azure may name the deployment, which has no price."""
        return self.model if served in {None, "", self.deployment} else str(served)

    def as_address(self) -> dict[str, Any]:
        """JSON from which `read_address` makes the same model: an index of vectors keeps it, because what the tenant
        configures may be another model already."""
        return {field: value for field, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ResolvedProfile(ResolvedModel):
    """A profile with every gap filled. `native_decisions` is settled here, before any call."""

    native_decisions: bool = False
    use_responses_api: bool | None = None
    reasoning_effort: str | None = None
    temperature: float | None = None

    @property
    def origin(self) -> str:
        """Names provider, wire and model: whose content blocks an answer carries."""
        wire = "messages" if self.provider == "anthropic" else "responses" if self.use_responses_api else "completions"
        return f"{self.provider}/{wire}/{self.deployment or self.model}"


def resolve_profile(name: ProfileName, settings: ModelSettings, config: TenantConfig) -> ResolvedProfile:
    """The tenant's profile of that name over the deployment's default model."""
    profile = config.models.get(name) or ModelProfile()
    model = read_model(profile, settings.mini if name == "mini" else settings.large)
    return ResolvedProfile(
        model=model,
        provider=profile.provider,
        deployment=profile.deployment,
        base_url=profile.base_url,
        price=read_price(profile.price),
        native_decisions=supports_native_decisions(model, profile),
        use_responses_api=chooses_responses_api(model, profile),
        reasoning_effort=profile.reasoning_effort,
        temperature=profile.temperature,
    )


def resolve_embedding(settings: ModelSettings, config: TenantConfig) -> ResolvedModel:
    """The tenant's embedding model over the deployment's default."""
    embedding = config.embedding
    return ResolvedModel(
        read_model(embedding, settings.embedding),
        embedding.provider,
        embedding.deployment,
        embedding.base_url,
        read_price(embedding.price),
    )


def read_address(address: Mapping[str, Any]) -> ResolvedModel:
    """The model of `ResolvedModel.as_address`."""
    price = address.get("price")
    return ResolvedModel(**{**address, "price": price and Price(**price)})


def read_model(address: ModelAddress, default: str) -> str:
    """The model's name; on Azure the deployment's where the model is not named."""
    return address.model or address.deployment or default


def read_price(price: ModelPrice | None) -> Price | None:
    """The operator's price with its gaps filled as in the table."""
    if price is None:
        return None
    return Price(
        input=price.input,
        cached_input=price.input if price.cached_input is None else price.cached_input,
        cache_write=price.input if price.cache_write is None else price.cache_write,
        output=price.output,
    )


def supports_native_decisions(model: str, profile: ModelProfile) -> bool:
    """Whether decisions of this profile go to `/v1/decisions`; the configuration overrides provider and model name."""
    if profile.decisions is not None:
        return profile.decisions == "native"
    return profile.provider == "openai" and DECISION_MODELS.fullmatch(model) is not None


def chooses_responses_api(model: str, profile: ModelProfile) -> bool | None:
    """The wire of a profile; None leaves it to langchain-openai.

    It sends `gpt-6*` to the Responses API only when a request has tools. A tool-free call over the same history would
    go to chat completions, which rejects the reasoning items that the Responses API left in it: one wire for both.
    Servers that only claim compatibility have chat completions.
    """
    if profile.use_responses_api is not None:
        return profile.use_responses_api
    if profile.provider in {"ovh", "compatible"}:
        return False
    return True if profile.provider in {"openai", "azure"} and model.startswith("gpt-6") else None
