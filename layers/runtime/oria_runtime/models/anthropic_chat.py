"""Chat models on Anthropic's wire, imported only for a profile that names it: the SDK is an optional layer."""

from functools import cached_property
from typing import Any

from anthropic import AsyncAnthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr, SecretStr

from oria_runtime.models.providers import NO_KEY, Endpoint
from oria_runtime.models.task_model import TaskModel
from oria_runtime.models.transport import MAX_RETRIES, TASK_HEADER, open_client


class AnthropicTaskChat(TaskModel, ChatAnthropic):
    """ChatAnthropic for one task label."""

    _endpoint: Endpoint = PrivateAttr()

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        # ChatAnthropic's own has connections for the life of the process, whatever its event loop, and no timeout.
        client = open_client()
        return AsyncAnthropic(
            api_key=self._endpoint.require_key(),
            base_url=self._endpoint.base_url,
            max_retries=self.max_retries,
            default_headers=self.default_headers,
            http_client=client,
            timeout=client.timeout,
        )

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages, _ = self.prepare(self._convert_input(input_).to_messages(), kwargs.get("tools"))
        if not kwargs.get("tools"):
            kwargs |= declare_called(messages)
        return super()._get_request_payload(messages, stop=stop, **kwargs)


def declare_called(messages: list[BaseMessage]) -> dict[str, Any]:
    """Tools for a request that has none although its conversation holds calls: the API wants every called tool
    declared. `tool_choice` none keeps the model from calling one."""
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    names = sorted({call["name"] for call in calls})
    if not names:
        return {}
    tools = [{"name": name, "description": "Not available now.", "input_schema": {"type": "object"}} for name in names]
    return {"tools": tools, "tool_choice": {"type": "none"}}


def build_anthropic_chat(endpoint: Endpoint, label: str, **settings: Any) -> AnthropicTaskChat:
    """A chat model of Anthropic. A missing key fails at the first call, as with the others."""
    chat = AnthropicTaskChat(
        # Both are given so that no other variable of the environment counts; the client takes them from the endpoint.
        base_url=endpoint.base_url,
        api_key=SecretStr(endpoint.api_key or NO_KEY),
        max_retries=MAX_RETRIES,
        default_headers={TASK_HEADER: label},
        **settings,
    )
    chat._endpoint = endpoint
    return chat
