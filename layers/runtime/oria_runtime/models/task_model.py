"""What every chat model does for a task, whichever SDK is behind it: a label, our errors, checked answers, counted
usage, and a conversation that the provider can read.

It overrides private methods of LangChain's chat models (`_agenerate`, `_astream`), because `create_agent` and
LangGraph's message streaming call the model in their own ways, and an error or a token must not depend on which. The
versions are pinned; the integration tests run each over HTTP.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables import RunnableConfig
from pydantic import PrivateAttr

from oria_runtime.models.caching import choose_mark, find_prefix, write_systems
from oria_runtime.models.errors import ModelIncompleteError, ModelMalformedError
from oria_runtime.models.failures import check_answer, check_stream_end, provider_errors
from oria_runtime.models.history import neutralize, stamp_origin
from oria_runtime.models.prices import Tokens
from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.usage import Usage

# Anthropic reports what it wrote to a cache by the cache's life, langchain-core's own name is for the rest.
WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


class TaskModel(BaseChatModel):
    """Mixed into a provider's chat model, before it; async only. `attach` makes it a task's."""

    _label: str = PrivateAttr(default="")
    _usage: Usage = PrivateAttr(default_factory=Usage)
    _task: ResolvedProfile = PrivateAttr()

    def attach(self, profile: ResolvedProfile, label: str, usage: Usage) -> None:
        """Give the model its task; every call is counted in `usage` under the label."""
        self._task = profile
        self._label = label
        self._usage = usage

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
            result = await super()._agenerate(*args, **kwargs)
        if not result.generations:
            raise ModelMalformedError("the provider's answer has no choices")
        # langchain-openai leaves some of it on the generation, langchain-anthropic all of it on the result.
        metadata = {**(result.llm_output or {}), **read_metadata(result.generations[0])}
        message: Any = result.generations[0].message
        self.count(read_tokens(message), metadata.get("model_name"))
        check_answer(message, metadata)
        stamp_origin(message, self._task.origin)
        return result

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        chunks: list[ChatGenerationChunk] = []
        is_open = True
        try:
            with provider_errors():
                async for chunk in super()._astream(*args, **kwargs):
                    if not chunks:
                        stamp_origin(chunk.message, self._task.origin)
                    chunks.append(chunk)
                    yield chunk
            is_open = False
        finally:
            if is_open and chunks:
                # What an answer that broke off or was left costs is reported at its end, or never.
                self.count(None, None)
        whole = merge_chat_generation_chunks(chunks)
        if whole is None:
            raise ModelIncompleteError("the stream ended before the answer began")
        # Under a schema the SDK repeats usage and model in a last chunk of its own: merged they would be doubled.
        reported = next((tokens for chunk in reversed(chunks) if (tokens := read_tokens(chunk.message))), None)
        served = next((name for chunk in reversed(chunks) if (name := read_metadata(chunk).get("model_name"))), None)
        self.count(reported, served)
        message: Any = whole.message
        metadata = read_metadata(whole)
        check_answer(message, metadata)
        check_stream_end(metadata)

    def count(self, tokens: Tokens | None, served: str | None) -> None:
        """Count an answer, also one that is refused afterwards, at the price of the model that served it."""
        model = self._task.name_served(served)
        self._usage.record(self._label, model, tokens, provider=self._task.provider, price=self._task.price)

    def prepare(self, messages: Sequence[BaseMessage], tools: Any) -> tuple[list[BaseMessage], str]:
        """The conversation as this provider may read it, and the prefix whose caching is asked for, else ''."""
        prefix = find_prefix(messages, tools)
        mark = choose_mark(self._task, prefix)
        return write_systems(neutralize(messages, self._task.origin), mark), prefix


def read_metadata(generation: ChatGeneration) -> dict[str, Any]:
    """What the provider says about an answer; chat completions leave it on the generation, others on the message."""
    return {**(generation.generation_info or {}), **generation.message.response_metadata}


def read_tokens(message: Any) -> Tokens | None:
    """The tokens that the provider reports with a message, or None when it reports none."""
    usage = message.usage_metadata
    if not usage or not usage.get("input_tokens"):
        return None
    details = usage.get("input_token_details", {})
    return Tokens(
        input=usage["input_tokens"],
        cached=details.get("cache_read") or 0,
        cache_written=sum(details.get(name) or 0 for name in WRITTEN),
        output=usage.get("output_tokens", 0),
    )
