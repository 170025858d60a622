"""Chat models on OpenAI's two wires: OpenAI, Azure OpenAI, OVHcloud and every compatible server."""

from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from openai import AsyncAzureOpenAI, BaseModel, LengthFinishReasonError
from pydantic import PrivateAttr, SecretStr

from oria_runtime.models.caching import choose_key
from oria_runtime.models.errors import ModelIncompleteError
from oria_runtime.models.prices import Tokens
from oria_runtime.models.providers import Endpoint
from oria_runtime.models.task_model import TaskModel
from oria_runtime.models.transport import MAX_RETRIES, TASK_HEADER, hide_account, open_client

# Stands where AzureChatOpenAI would otherwise build a second, synchronous client.
NO_SYNC_CLIENT = object()


class OpenAIWire(TaskModel, BaseChatOpenAI):
    """What the wires of OpenAI need beyond TaskModel."""

    _opened: int = PrivateAttr(default=-1)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        try:
            return await super()._agenerate(*args, **kwargs)
        except ModelIncompleteError as error:
            # Under a schema the SDK raises a cut answer instead of returning it, and its usage with it.
            if isinstance(error.__cause__, LengthFinishReasonError):
                usage = error.__cause__.completion.usage
                self.count(Tokens(usage.prompt_tokens, output=usage.completion_tokens) if usage else None, None)
            raise

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages, prefix = self.prepare(self._convert_input(input_).to_messages(), kwargs.get("tools"))
        if self._task.provider == "azure" and "response_format" in kwargs:
            kwargs["response_format"] = drop_bounds(kwargs["response_format"])
        payload = super()._get_request_payload(messages, stop=stop, **kwargs)
        if key := choose_key(self._task, prefix):
            payload["prompt_cache_key"] = key
        if self._task.provider == "azure":
            # The name of the model means nothing to Azure, and its Responses API has no deployment in the path.
            payload["model"] = self._task.deployment
        if self._task.provider in {"ovh", "compatible"}:
            limit_to_basics(payload)
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        deltas = [choice.get("delta") or {} for choice in chunk.get("choices") or ()]
        for delta in deltas:
            self._number_calls(delta.get("tool_calls") or ())
        converted = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
        refusal = "".join(delta.get("refusal") or "" for delta in deltas)
        if converted is not None and refusal:
            # langchain-openai 1.7.4 drops it: a refused answer would look like an empty one.
            converted.message.additional_kwargs["refusal"] = refusal
        return converted

    def _number_calls(self, calls: Any) -> None:
        """Give calls the `index` that some compatible servers leave out; langchain-openai drops a call without one."""
        for call in calls:
            if call.get("index") is None:
                self._opened += bool((call.get("function") or {}).get("name"))
                call["index"] = self._opened


class TaskChat(OpenAIWire, ChatOpenAI):
    """ChatOpenAI for one task label."""


class AzureTaskChat(OpenAIWire, AzureChatOpenAI):
    """AzureChatOpenAI for one task label."""

    def _create_chat_result(
        self, response: dict[str, Any] | BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        # AzureChatOpenAI raises a ValueError for a filtered answer, which hides its usage and what it is.
        return BaseChatOpenAI._create_chat_result(self, response, generation_info)


def limit_to_basics(payload: dict[str, Any]) -> None:
    """Leave out of a chat completions payload what servers of the compatible kind do not know and may reject.

    An agent that wants one call at a time checks the answer itself, so nothing depends on `parallel_tool_calls`.
    """
    payload.pop("parallel_tool_calls", None)
    if "max_completion_tokens" in payload:
        payload["max_tokens"] = payload.pop("max_completion_tokens")


def drop_bounds(schema: Any) -> Any:
    """A JSON schema without the sizes of arrays, which Azure refuses in strict mode; the answer is validated anyway.

    https://learn.microsoft.com/azure/ai-foundry/openai/how-to/structured-outputs, "Unsupported type-specific keywords"
    """
    if isinstance(schema, list):
        return [drop_bounds(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = {"minItems", "maxItems"} if schema.get("type") == "array" else set()
    return {key: drop_bounds(value) for key, value in schema.items() if key not in dropped}


def build_openai_chat(endpoint: Endpoint, label: str, **settings: Any) -> TaskChat:
    """A chat model of OpenAI or of a compatible server."""
    chat = TaskChat(
        base_url=endpoint.base_url,
        api_key=endpoint.read_key,
        http_async_client=open_client(),
        max_retries=MAX_RETRIES,
        # LangChain leaves usage out of streams of any address but OpenAI's own, and cost would be unknown.
        stream_usage=True,
        default_headers={TASK_HEADER: label},
        **settings,
    )
    if endpoint.provider != "openai":
        hide_account(chat.root_async_client)
    return chat


def build_azure_chat(endpoint: Endpoint, deployment: str, label: str, **settings: Any) -> AzureTaskChat:
    """A chat model of an Azure OpenAI deployment."""
    client = open_azure_client(endpoint, deployment, label)
    return AzureTaskChat(
        azure_endpoint=endpoint.base_url,
        azure_deployment=deployment,
        api_version=endpoint.api_version,
        api_key=SecretStr(endpoint.api_key),
        client=NO_SYNC_CLIENT,
        async_client=client.chat.completions,
        root_async_client=client,
        max_retries=MAX_RETRIES,
        stream_usage=True,
        # Otherwise `parallel_tool_calls` is dropped for every model but gpt-4o.
        disabled_params={},
        **settings,
    )


def open_azure_client(endpoint: Endpoint, deployment: str, label: str) -> AsyncAzureOpenAI:
    """The SDK's client for one deployment, over the shared connections."""
    client = AsyncAzureOpenAI(
        azure_endpoint=endpoint.base_url,
        azure_deployment=deployment,
        api_version=endpoint.api_version,
        api_key=endpoint.read_key,
        http_client=open_client(),
        max_retries=MAX_RETRIES,
        default_headers={TASK_HEADER: label},
    )
    hide_account(client)
    return client
