"""The chat model of a profile for one task, whichever provider serves it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.prices import SNAPSHOT_SUFFIX
from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.providers import Endpoint
from oria_runtime.models.task_model import TaskModel
from oria_runtime.models.usage import Usage


def build_chat(
    profile: ResolvedProfile,
    label: str,
    endpoint: Endpoint,
    usage: Usage,
    *,
    callbacks: Sequence[BaseCallbackHandler] = (),
    max_tokens: int | None = None,
    temperature: float | None = None,
) -> TaskModel:
    """The chat model of a profile for one task.

    Raises ConfigurationError for an effort that the model lacks and for a provider whose layer is not deployed.
    """
    settings: dict[str, Any] = {
        "model": profile.model,
        "reasoning_effort": read_effort(profile),
        "temperature": read_temperature(profile, temperature),
        "max_tokens": max_tokens,
        # LC_OUTPUT_VERSION would change the blocks that `history` knows.
        "output_version": None,
        "tags": [label],
        "metadata": {"task": label},
        "callbacks": list(callbacks),
    }
    chat = open_chat(profile, label, endpoint, settings)
    chat.attach(profile, label, usage)
    return chat


def open_chat(profile: ResolvedProfile, label: str, endpoint: Endpoint, settings: Mapping[str, Any]) -> TaskModel:
    """The model of the provider's own class."""
    if profile.provider == "anthropic":
        with optional_layer():
            from oria_runtime.models.anthropic_chat import build_anthropic_chat

        return build_anthropic_chat(endpoint, label, **settings)
    from oria_runtime.models.openai_chat import build_azure_chat, build_openai_chat

    wired = {**settings, "use_responses_api": profile.use_responses_api}
    if profile.provider == "azure":
        return build_azure_chat(endpoint, profile.deployment or profile.model, label, **wired)
    return build_openai_chat(endpoint, label, **wired)


def read_abilities(profile: ResolvedProfile) -> Mapping[str, Any]:
    """What the provider's LangChain package knows of a model or of the model that it is a dated snapshot of."""
    if profile.provider == "anthropic":
        with optional_layer():
            from langchain_anthropic.data._profiles import _PROFILES as PROFILES
    else:
        from langchain_openai.data._profiles import _PROFILES as PROFILES
    return PROFILES.get(profile.model) or PROFILES.get(SNAPSHOT_SUFFIX.sub("", profile.model)) or {}


def read_temperature(profile: ResolvedProfile, asked: float | None) -> float | None:
    """The temperature to send: the call's, else the profile's, and none to a model that takes none."""
    wanted = profile.temperature if asked is None else asked
    return wanted if read_abilities(profile).get("temperature", True) else None


def read_effort(profile: ResolvedProfile) -> str | None:
    """The profile's reasoning effort. Raises ConfigurationError when the model is known not to have it."""
    levels = read_abilities(profile).get("reasoning_effort_levels")
    if profile.reasoning_effort is not None and levels and profile.reasoning_effort not in levels:
        raise ConfigurationError(f"{profile.model} has no reasoning effort {profile.reasoning_effort}")
    return profile.reasoning_effort


@contextmanager
def optional_layer() -> Iterator[None]:
    """Raise ConfigurationError for an SDK that is not installed; any other failing import passes as it is."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anthropic", "langchain_anthropic"}:
            raise
        raise ConfigurationError(
            "the provider anthropic needs its optional layer: layers/dependencies/anthropic.in, "
            "deployed when the parameter AnthropicSecretArn is set"
        ) from error
