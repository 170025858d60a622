"""Semantic model profiles: what `mini` and `large` mean for a tenant.

A tenant's configuration wins, the deployment's settings fill the gaps. What a model can do comes from
langchain-openai's own model data, except for Decisions, which that data does not know.
"""

import re
from dataclasses import dataclass

from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelProfile, ProfileName, TenantConfig

# https://platform.openai.com/docs/guides/decisions: the only family that serves the endpoint, alone or as a snapshot.
DECISION_MODELS = re.compile(r"gpt-6-luna(-\d{4}-\d{2}-\d{2})?")


@dataclass(frozen=True)
class ResolvedProfile:
    """A profile with every gap filled. `native_decisions` is settled here, before any call."""

    model: str
    native_decisions: bool
    use_responses_api: bool | None
    reasoning_effort: str | None
    temperature: float | None


def resolve_profile(name: ProfileName, settings: ModelSettings, config: TenantConfig) -> ResolvedProfile:
    """The tenant's profile of that name over the deployment's default model."""
    profile = config.models.get(name) or ModelProfile()
    model = profile.model or (settings.mini if name == "mini" else settings.large)
    return ResolvedProfile(
        model=model,
        native_decisions=supports_native_decisions(model, profile),
        use_responses_api=chooses_responses_api(model, profile),
        reasoning_effort=profile.reasoning_effort,
        temperature=profile.temperature,
    )


def supports_native_decisions(model: str, profile: ModelProfile) -> bool:
    """Whether decisions of this profile go to `/v1/decisions`; the configuration overrides the model's name."""
    if profile.decisions is not None:
        return profile.decisions == "native"
    return DECISION_MODELS.fullmatch(model) is not None


def chooses_responses_api(model: str, profile: ModelProfile) -> bool | None:
    """The wire of a profile; None leaves it to langchain-openai.

    It sends `gpt-6*` to the Responses API only when a request has tools. A tool-free call over the same history would
    go to chat completions, which rejects the reasoning items that the Responses API left in it: one wire for both.
    """
    if profile.use_responses_api is None and model.startswith("gpt-6"):
        return True
    return profile.use_responses_api
