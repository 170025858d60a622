"""Where providers are, who gets which key, and what a tenant may configure."""

from typing import Any

import pytest
from pydantic import ValidationError

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.client import build_models
from oria_runtime.models.errors import ModelAccessError
from oria_runtime.models.profiles import resolve_profile
from oria_runtime.models.providers import ANTHROPIC_URL, KEYS, OPENAI_URL, OVH_URL, read_endpoint
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import EmbeddingConfig, ModelProfile, Provider, TenantConfig

NAMED: dict[str, dict[str, Any]] = {
    "openai": {"provider": "openai"},
    "azure": {"provider": "azure", "deployment": "small", "model": "gpt-6-luna"},
    "ovh": {"provider": "ovh", "model": "gpt-oss-120b"},
    "compatible": {"provider": "compatible", "model": "own", "base_url": "https://models.example.com/v1"},
    "anthropic": {"provider": "anthropic", "model": "claude-haiku-5-5"},
}


def configure(name: str, **more: Any) -> TenantConfig:
    return TenantConfig.model_validate({"models": {"mini": {**NAMED[name], **more}}})


@pytest.mark.parametrize(
    ("provider", "address"), [("openai", OPENAI_URL), ("ovh", OVH_URL), ("anthropic", ANTHROPIC_URL)]
)
def test_public_providers_have_a_known_address(provider: Provider, address: str) -> None:
    assert read_endpoint(provider, {}).base_url == address


@pytest.mark.parametrize("provider", ["azure", "compatible"])
def test_an_address_that_nobody_names_is_a_configuration_error(provider: Provider) -> None:
    with pytest.raises(ConfigurationError, match=r"AZURE_OPENAI_ENDPOINT|COMPATIBLE_BASE_URL"):
        read_endpoint(provider, {})


@pytest.mark.parametrize("provider", ["openai", "azure", "ovh", "anthropic"])
def test_a_missing_key_is_named_and_another_providers_key_does_not_stand_in(provider: Provider) -> None:
    others = {name: "secret" for key, name in KEYS.items() if key != provider}
    endpoint = read_endpoint(provider, {**others, "AZURE_OPENAI_ENDPOINT": "https://x.example"})
    with pytest.raises(ModelAccessError, match=KEYS[provider]):
        endpoint.require_key()


@pytest.mark.parametrize(
    ("own", "key"),
    [
        (None, "secret"),
        ("https://models.example.com/v1", "secret"),
        ("https://models.example.com:443/other", "secret"),
        ("http://models.example.com/v1", "none"),
        ("https://models.example.com:8443/v1", "none"),
        ("https://models.example.com.evil.example/v1", "none"),
        ("https://evil.example/v1", "none"),
    ],
)
def test_the_compatible_key_goes_to_the_deployments_own_server_only(own: str | None, key: str) -> None:
    environ = {"COMPATIBLE_BASE_URL": "https://models.example.com/v1", "COMPATIBLE_API_KEY": "secret"}
    assert read_endpoint("compatible", environ, own).api_key == key


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(read_endpoint("openai", {"OPENAI_API_KEY": "secret"}))


@pytest.mark.parametrize("name", NAMED)
def test_only_openai_decides_natively_by_itself(name: str) -> None:
    models = build_models(ModelSettings(), configure(name, model="gpt-6-luna"), environ={})
    assert models.supports_decisions("mini") is (name == "openai")


@pytest.mark.parametrize(
    ("name", "wanted", "wire"),
    [
        ("openai", None, True),
        ("azure", None, True),
        ("azure", False, False),
        ("ovh", None, False),
        ("compatible", None, False),
        ("compatible", True, True),
        ("anthropic", None, None),
    ],
)
def test_the_wire_follows_the_provider(name: str, wanted: bool | None, wire: bool | None) -> None:
    config = configure(name, model="gpt-6-luna", use_responses_api=wanted)
    assert resolve_profile("mini", ModelSettings(), config).use_responses_api is wire


@pytest.mark.parametrize(
    "profile",
    [
        {"provider": "ovh"},
        {"provider": "compatible"},
        {"provider": "anthropic"},
        {"provider": "azure", "model": "gpt-6-luna"},
        {"provider": "openai", "deployment": "small"},
        {"provider": "openai", "base_url": "https://elsewhere.example/v1"},
        {"provider": "ovh", "model": "x", "base_url": "https://elsewhere.example/v1"},
        {"provider": "compatible", "model": "x", "base_url": "models.example.com/v1"},
        {"provider": "compatible", "model": "x", "base_url": "file:///etc/passwd"},
        {"provider": "compatible", "model": "x", "base_url": "https://user:key@models.example.com/v1"},
        {"provider": "compatible", "model": "x", "base_url": "https://models.example.com/v1?key=1"},
        {"provider": "compatible", "model": "x", "base_url": "https://models.example.com:99999/v1"},
        {"provider": "azure", "deployment": "small", "decisions": "native"},
        {"provider": "anthropic", "model": "x", "decisions": "native"},
        {"provider": "anthropic", "model": "x", "use_responses_api": True},
        {"provider": "openai", "api_key": "secret"},
        {"provider": "unheard-of", "model": "x"},
        {"provider": "openai", "price": {"input": -1}},
    ],
)
def test_a_profile_that_cannot_work_is_refused_when_it_is_written(profile: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelProfile.model_validate(profile)


def test_anthropic_has_no_embeddings_and_others_are_named_beside_it() -> None:
    with pytest.raises(ValidationError):
        EmbeddingConfig(provider="anthropic", model="x")
    config = TenantConfig(embedding=EmbeddingConfig(provider="azure", deployment="vectors"))
    assert build_models(ModelSettings(), config, environ={}).embedding_model == "vectors"
