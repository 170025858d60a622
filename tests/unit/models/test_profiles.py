"""What a tenant's profiles resolve to."""

import pytest

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.chat import read_effort, read_temperature
from oria_runtime.models.client import build_models
from oria_runtime.models.profiles import ResolvedProfile, resolve_profile
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import EmbeddingConfig, ModelProfile, TenantConfig

SETTINGS = ModelSettings(mini="small", large="big", embedding="vectors")


def test_settings_fill_what_the_tenant_leaves_open() -> None:
    config = TenantConfig(models={"large": ModelProfile(model="own", temperature=0.1)})
    assert resolve_profile("mini", SETTINGS, config).model == "small"
    assert resolve_profile("large", SETTINGS, config).model == "own"
    assert resolve_profile("large", SETTINGS, config).temperature == 0.1


def test_the_tenants_embedding_model_wins() -> None:
    own = TenantConfig(embedding=EmbeddingConfig(model="own-vectors"))
    assert build_models(SETTINGS, own, environ={}).embedding_model == "own-vectors"
    assert build_models(SETTINGS, TenantConfig(), environ={}).embedding_model == "vectors"


@pytest.mark.parametrize(
    ("model", "configured", "native"),
    [
        ("gpt-6-luna", None, True),
        ("gpt-6-luna-2026-09-22", None, True),
        ("gpt-6-luna-mini", None, False),
        ("gpt-6-sol", None, False),
        ("gpt-6-luna", "structured", False),
        ("anything", "native", True),
    ],
)
def test_native_decisions_follow_model_and_configuration(model: str, configured: str | None, native: bool) -> None:
    config = TenantConfig(models={"mini": ModelProfile.model_validate({"model": model, "decisions": configured})})
    assert build_models(SETTINGS, config, environ={}).supports_decisions("mini") is native


@pytest.mark.parametrize(
    ("model", "configured", "responses"),
    [("gpt-6-sol", None, True), ("gpt-6-sol", False, False), ("gpt-4.1", None, None), ("gpt-4.1", True, True)],
)
def test_the_wire_follows_model_and_configuration(model: str, configured: bool | None, responses: bool | None) -> None:
    config = TenantConfig(models={"mini": ModelProfile(model=model, use_responses_api=configured)})
    assert resolve_profile("mini", SETTINGS, config).use_responses_api is responses


def profile(model: str, effort: str | None = None, temperature: float | None = None) -> ResolvedProfile:
    return ResolvedProfile(model, reasoning_effort=effort, temperature=temperature)


def test_a_temperature_is_left_out_where_the_model_takes_none() -> None:
    assert read_temperature(profile("gpt-6-sol", temperature=0.5), 0.1) is None
    assert read_temperature(profile("gpt-4.1", temperature=0.5), None) == 0.5
    assert read_temperature(profile("unheard-of", temperature=0.5), 0.0) == 0.0


def test_an_effort_that_the_model_lacks_is_a_configuration_error() -> None:
    assert read_effort(profile("gpt-6-sol", effort="none")) == "none"
    assert read_effort(profile("unheard-of", effort="huge")) == "huge"
    with pytest.raises(ConfigurationError):
        read_effort(profile("gpt-6-astra", effort="none"))
