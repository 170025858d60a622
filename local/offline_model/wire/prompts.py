"""Requests of `/v1/chat/completions` and `/v1/responses` as one shape.

Source of the shapes: the request types of the openai SDK 3 (`types/chat`, `types/responses`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Endpoint = Literal["chat/completions", "responses"]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Tool:
    """A function the model may call; `parameters` is its JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call in the history or in an answer. `arguments` is the JSON text that travels."""

    id: str
    name: str
    arguments: str

    def read_arguments(self) -> dict[str, Any]:
        """The arguments, or nothing when the text is no JSON object."""
        try:
            arguments = json.loads(self.arguments or "{}")
        except ValueError:
            return {}
        return arguments if isinstance(arguments, dict) else {}


@dataclass(frozen=True)
class Message:
    """A message of the history. A tool's result names the call that it answers."""

    role: Role
    text: str
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str = ""


@dataclass(frozen=True)
class Prompt:
    """What a model is asked: the history, the tools, and how the answer has to look."""

    endpoint: Endpoint
    model: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    tool_choice: str | None = None
    schema_name: str = ""
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    stream: bool = False
    stream_usage: bool = True
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def latest_user_text(self) -> str:
        return next((message.text for message in reversed(self.messages) if message.role == "user"), "")

    @property
    def system_text(self) -> str:
        return "\n".join(message.text for message in self.messages if message.role == "system")


def read_completion_prompt(body: Mapping[str, Any]) -> Prompt:
    """The prompt of a chat completions request."""
    shape = (body.get("response_format") or {}).get("json_schema") or {}
    options = body.get("stream_options") or {}
    return Prompt(
        endpoint="chat/completions",
        model=body["model"],
        messages=[read_message(message) for message in body["messages"]],
        tools=[read_tool(tool["function"]) for tool in body.get("tools") or ()],
        tool_choice=read_tool_choice(body.get("tool_choice")),
        schema_name=shape.get("name", ""),
        schema=shape.get("schema"),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        stream=bool(body.get("stream")),
        stream_usage=bool(options.get("include_usage")),
        body=body,
    )


def read_responses_prompt(body: Mapping[str, Any]) -> Prompt:
    """The prompt of a Responses request."""
    shape = (body.get("text") or {}).get("format") or {}
    instructions = [Message("system", body["instructions"])] if body.get("instructions") else []
    entries = body["input"]
    items = [{"role": "user", "content": entries}] if isinstance(entries, str) else entries
    return Prompt(
        endpoint="responses",
        model=body["model"],
        messages=[*instructions, *(message for item in items for message in read_item(item))],
        tools=[read_tool(tool) for tool in body.get("tools") or () if tool["type"] == "function"],
        tool_choice=read_tool_choice(body.get("tool_choice")),
        schema_name=shape.get("name", ""),
        schema=shape.get("schema") if shape.get("type") == "json_schema" else None,
        max_tokens=body.get("max_output_tokens"),
        stream=bool(body.get("stream")),
        body=body,
    )


def read_message(message: Mapping[str, Any]) -> Message:
    """A message of chat completions."""
    role: Role = "system" if message["role"] in {"system", "developer"} else message["role"]
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    return Message(role, read_text(message.get("content")), calls, message.get("tool_call_id", ""))


def read_item(item: Mapping[str, Any]) -> list[Message]:
    """The message of a Responses input item; items without text for a model (reasoning) give none."""
    kind = item.get("type", "message")
    if kind == "function_call":
        return [Message("assistant", "", (ToolCall(item["call_id"], item["name"], item["arguments"]),))]
    if kind == "function_call_output":
        return [Message("tool", read_text(item["output"]), tool_call_id=item["call_id"])]
    if kind != "message":
        return []
    role: Role = "system" if item["role"] in {"system", "developer"} else item["role"]
    return [Message(role, read_text(item.get("content")))]


def read_text(content: Any) -> str:
    """The text of a content: a string, or the text parts of a list."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content)


def read_tool(function: Mapping[str, Any]) -> Tool:
    return Tool(function["name"], function.get("description") or "", function.get("parameters") or {})


def read_tool_choice(choice: Any) -> str | None:
    """`auto`, `none`, `required`, or the name of the function that must be called."""
    if isinstance(choice, Mapping):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
        return str(name)
    return choice if choice is None else str(choice)
