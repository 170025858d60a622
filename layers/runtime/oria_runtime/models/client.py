"""The one door to model providers: chat models, decisions, structured answers and embeddings of a tenant.

A `Models` belongs to one stage: it carries the tenant's profiles and collects the usage of that stage by task label.
The connections behind it are shared by all stages of a sandbox (`transport`). Nothing of a provider's SDK is imported
until the first call, because the import costs half a second that a stage may not need.

Labels name the task (`langgraph.supervisor`, `training_finder.scope`); a label is the run's name, its tag, metadata
`task`, the request header `x-oria-task` and the key of its usage.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.errors import DecisionUnavailableError, ModelError, ModelTimeoutError
from oria_runtime.models.profiles import (
    ResolvedModel,
    ResolvedProfile,
    read_address,
    resolve_embedding,
    resolve_profile,
)
from oria_runtime.models.providers import Endpoint, read_endpoint
from oria_runtime.models.usage import Usage
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ProfileName, TenantConfig

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_openai.decisions import ChoiceAnswer, PredicateAnswer, Question, ScoreAnswer, State

    Decision = ChoiceAnswer | PredicateAnswer | ScoreAnswer

Answer = TypeVar("Answer", bound=BaseModel)


class Models:
    """The models of one tenant during one stage. `usage` grows with every call."""

    def __init__(
        self,
        profiles: Mapping[ProfileName, ResolvedProfile],
        embedding: ResolvedModel,
        environ: Mapping[str, str],
        callbacks: "Sequence[BaseCallbackHandler]" = (),
    ) -> None:
        self.profiles = profiles
        self.embedding_model = embedding.model
        self.embedding_address = embedding.as_address()
        self.usage = Usage()
        self._embedding = embedding
        self._environ = environ
        self._callbacks = tuple(callbacks)

    def _locate(self, model: ResolvedModel) -> Endpoint:
        """Where a model is served. Raises ConfigurationError when nobody says."""
        return read_endpoint(model.provider, self._environ, model.base_url)

    def chat(
        self,
        profile: ProfileName,
        label: str,
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> "BaseChatModel":
        """A chat model whose calls go under `label`; async only.

        `max_tokens` bounds the output. `temperature` wins over the profile's and is left out where the model's own
        data says that it takes none. Calls raise ModelError subclasses instead of the provider's errors.
        """
        from oria_runtime.models.chat import build_chat

        resolved = self.profiles[profile]
        return build_chat(
            resolved,
            label,
            self._locate(resolved),
            self.usage,
            callbacks=self._callbacks,
            max_tokens=max_tokens,
            temperature=temperature,
        )

    def supports_decisions(self, profile: ProfileName = "mini") -> bool:
        """Whether decisions of this profile use the provider's own decision endpoint."""
        return self.profiles[profile].native_decisions

    async def decide(
        self,
        *,
        label: str,
        input: "State",
        questions: "Mapping[str, Question]",
        timeout: float,  # noqa: ASYNC109 - one deadline for all attempts, kept by asyncio.timeout inside
        profile: ProfileName = "mini",
    ) -> "Mapping[str, Decision]":
        """Answers to typed questions about `input`, one for each name, from the native endpoint.

        At most three attempts inside `timeout` seconds. Raises DecisionUnavailableError for refusals, answers that do
        not fit the questions, exhausted retries and the deadline; ConfigurationError when the profile has no native
        decisions (ask `supports_decisions` first).
        """
        from oria_runtime.models.decisions import ask_decisions

        resolved = self.profiles[profile]
        if not resolved.native_decisions:
            raise ConfigurationError(f"the model {resolved.model} of profile {profile} has no native decisions")
        async with decision_deadline(timeout):
            endpoint = self._locate(resolved)
            return await ask_decisions(
                resolved, label, endpoint, self.usage, self._callbacks, input=input, questions=questions
            )

    async def choose(
        self,
        *,
        label: str,
        name: str,
        instructions: str,
        choices: Mapping[str, str],
        evidence: Mapping[str, Any],
        timeout: float,  # noqa: ASYNC109
        profile: ProfileName = "mini",
    ) -> str:
        """One of the `choices` (value to description of when it applies), judged from the JSON `evidence`.

        The path, native or structured, follows from the profile before the call and does not change after a failure.
        Raises DecisionUnavailableError.
        """
        if not self.supports_decisions(profile):
            from oria_runtime.models.structured import choose_structured

            async with decision_deadline(timeout):
                return await choose_structured(self.chat(profile, label), name, instructions, choices, evidence)
        from langchain_openai.decisions import Choice

        question = Choice(instructions=instructions, choices=dict(choices))
        answers = await self.decide(
            label=label, input=dict(evidence), questions={name: question}, timeout=timeout, profile=profile
        )
        return read_chosen(answers[name])

    async def structured(
        self,
        *,
        label: str,
        schema: type[Answer],
        messages: "Sequence[BaseMessage]",
        timeout: float | None = None,  # noqa: ASYNC109
        profile: ProfileName = "mini",
        max_tokens: int | None = None,
    ) -> Answer:
        """An instance of `schema`, generated under its strict JSON schema. Raises ModelError subclasses."""
        from oria_runtime.models.structured import generate_structured

        chat = self.chat(profile, label, max_tokens=max_tokens)
        async with deadline(timeout):
            return await generate_structured(chat, schema, messages)

    async def embed(
        self,
        texts: Sequence[str],
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        address: Mapping[str, Any] | None = None,
    ) -> list[list[float]]:
        """One vector of 512 finite numbers for each text, in order.

        `address` names another model than the tenant's, as `embedding_address` wrote it when it was the tenant's.
        Raises ModelError subclasses; ConfigurationError when nobody says where the model is served.
        """
        from oria_runtime.models.embeddings import embed_texts

        if not texts:
            return []
        model = self._embedding if address is None else read_address(address)
        async with deadline(timeout):
            return await embed_texts(model, self._locate(model), self.usage, texts)


def read_chosen(decision: "Decision") -> str:
    """The value of a checked choice."""
    from langchain_openai.decisions import ChoiceAnswer

    if not isinstance(decision, ChoiceAnswer):
        raise DecisionUnavailableError("malformed")
    return str(decision.choice)


@asynccontextmanager
async def deadline(seconds: float | None) -> AsyncIterator[None]:
    """One deadline round everything inside, retry waits included. Raises ModelTimeoutError."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ModelTimeoutError("the model did not answer in time") from error


@asynccontextmanager
async def decision_deadline(seconds: float) -> AsyncIterator[None]:
    """The same round a decision: whatever kept the answer away makes it unavailable."""
    from oria_runtime.models.failures import read_decision_failure

    try:
        async with deadline(seconds):
            yield
    except DecisionUnavailableError:
        raise
    except ModelError as error:
        raise DecisionUnavailableError(read_decision_failure(error)) from error


def build_models(
    settings: ModelSettings,
    config: TenantConfig,
    *,
    callbacks: "Sequence[BaseCallbackHandler]" = (),
    environ: Mapping[str, str] = os.environ,
) -> Models:
    """The models of a tenant for one stage. `callbacks` see every call; `environ` gives the keys and addresses of the
    providers (docs/architecture.md)."""
    profiles: dict[ProfileName, ResolvedProfile] = {
        "mini": resolve_profile("mini", settings, config),
        "large": resolve_profile("large", settings, config),
    }
    return Models(profiles, resolve_embedding(settings, config), environ, callbacks)
