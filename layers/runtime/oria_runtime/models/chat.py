"""The chat model of a task: ChatOpenAI with a label, our errors, checked answers and counted usage.

It overrides three private methods of langchain-openai (`_agenerate`, `_astream`, and the conversion of a chat
completions chunk), because `create_agent` and LangGraph's message streaming call the model in their own ways, and an
error or a token must not depend on which. The version is pinned; the integration tests run each over HTTP.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langchain_openai.data._profiles import _PROFILES
from openai import LengthFinishReasonError
from pydantic import PrivateAttr

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.errors import ModelIncompleteError, ModelMalformedError, ModelRefusalError
from oria_runtime.models.failures import check_answer, check_stream_end, provider_errors
from oria_runtime.models.prices import SNAPSHOT_SUFFIX, Tokens
from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.transport import MAX_RETRIES, TASK_HEADER, Endpoint, open_client
from oria_runtime.models.usage import Usage


class TaskChat(ChatOpenAI):
    """ChatOpenAI for one task label; async only."""

    _label: str = PrivateAttr(default="")
    _usage: Usage = PrivateAttr(default_factory=Usage)

    async def ainvoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        return await super().ainvoke(input, self._named(config), **kwargs)

    async def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        async for chunk in super().astream(input, self._named(config), **kwargs):
            yield chunk

    def _named(self, config: RunnableConfig | None) -> RunnableConfig:
        """LangChain reads a run's name from the call only."""
        named: RunnableConfig = {"run_name": self._label}
        return {**named, **(config or {})}

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with provider_errors():
            try:
                result = await super()._agenerate(*args, **kwargs)
            except LengthFinishReasonError as error:
                self._count_cut(error)
                raise
        if not result.generations:
            raise ModelMalformedError("the provider's answer has no choices")
        message: Any = result.generations[0].message
        metadata = read_metadata(result.generations[0])
        self._count(message, metadata.get("model_name") or (result.llm_output or {}).get("model_name"))
        check_answer(message, metadata)
        return result

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        chunks: list[ChatGenerationChunk] = []
        with provider_errors():
            async for chunk in super()._astream(*args, **kwargs):
                chunks.append(chunk)
                yield chunk
        whole = merge_chat_generation_chunks(chunks)
        if whole is None:
            raise ModelIncompleteError("the stream ended before the answer began")
        # Under a schema the SDK repeats usage and model in a last chunk of its own: merged they would be doubled.
        reported = next((chunk for chunk in reversed(chunks) if read_tokens(chunk.message).input), whole)
        served = next((name for chunk in reversed(chunks) if (name := read_metadata(chunk).get("model_name"))), None)
        self._count(reported.message, served)
        message: Any = whole.message
        metadata = read_metadata(whole)
        check_answer(message, metadata)
        check_stream_end(metadata)

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        # langchain-openai 1.7.4 drops `delta.refusal`: a refused answer would look like an empty one.
        if any((choice.get("delta") or {}).get("refusal") for choice in chunk.get("choices") or ()):
            raise ModelRefusalError("the model refused to answer")
        return super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)

    def _count_cut(self, error: LengthFinishReasonError) -> None:
        """Count an answer under a schema that the SDK raises instead of returning it, because it was cut."""
        usage = error.completion.usage
        tokens = Tokens(input=usage.prompt_tokens, output=usage.completion_tokens) if usage else Tokens()
        self._usage.record(self._label, self.model_name, tokens)

    def _count(self, message: Any, served: str | None) -> None:
        """Count an answer, also one that is refused afterwards, at the price of the model that served it."""
        self._usage.record(self._label, served or self.model_name, read_tokens(message))


def build_chat(
    profile: ResolvedProfile,
    label: str,
    endpoint: Endpoint,
    usage: Usage,
    *,
    callbacks: Sequence[BaseCallbackHandler] = (),
    max_tokens: int | None = None,
    temperature: float | None = None,
) -> TaskChat:
    """The chat model of a profile for one task. Raises ConfigurationError for an effort that the model lacks."""
    chat = TaskChat(
        model=profile.model,
        base_url=endpoint.base_url,
        api_key=endpoint.read_key,
        http_async_client=open_client(),
        max_retries=MAX_RETRIES,
        # LangChain leaves usage out of streams of any address but OpenAI's own, and cost would be 0.
        stream_usage=True,
        use_responses_api=profile.use_responses_api,
        reasoning_effort=read_effort(profile),
        temperature=read_temperature(profile, temperature),
        max_tokens=max_tokens,
        default_headers={TASK_HEADER: label},
        tags=[label],
        metadata={"task": label},
        callbacks=list(callbacks),
    )
    chat._label = label
    chat._usage = usage
    return chat


def read_metadata(generation: ChatGeneration) -> dict[str, Any]:
    """What the provider says about an answer; chat completions leave it on the generation, responses on the message."""
    return {**(generation.generation_info or {}), **generation.message.response_metadata}


def read_abilities(model: str) -> Mapping[str, Any]:
    """What langchain-openai knows of a model or of the model that it is a dated snapshot of."""
    return _PROFILES.get(model) or _PROFILES.get(SNAPSHOT_SUFFIX.sub("", model)) or {}


def read_temperature(profile: ResolvedProfile, asked: float | None) -> float | None:
    """The temperature to send: the call's, else the profile's, and none to a model that takes none."""
    wanted = profile.temperature if asked is None else asked
    return wanted if read_abilities(profile.model).get("temperature", True) else None


def read_effort(profile: ResolvedProfile) -> str | None:
    """The profile's reasoning effort. Raises ConfigurationError when the model is known not to have it."""
    levels = read_abilities(profile.model).get("reasoning_effort_levels")
    if profile.reasoning_effort is not None and levels and profile.reasoning_effort not in levels:
        raise ConfigurationError(f"{profile.model} has no reasoning effort {profile.reasoning_effort}")
    return profile.reasoning_effort


def read_tokens(message: Any) -> Tokens:
    """The tokens that the provider reports with a message; none reported counts as none."""
    usage = message.usage_metadata or {}
    details = usage.get("input_token_details", {})
    return Tokens(
        input=usage.get("input_tokens", 0),
        cached=details.get("cache_read", 0),
        cache_written=details.get("cache_creation", 0),
        output=usage.get("output_tokens", 0),
    )
