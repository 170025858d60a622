"""Answers in the shapes of `/v1/chat/completions`: one body, or chunks of a stream."""

from collections.abc import Iterator
from typing import Any

from local.offline_model.wire.answers import Answer, count_tokens
from local.offline_model.wire.prompts import Prompt, ToolCall

FINGERPRINT = "offline-model"


def render_completion(prompt: Prompt, answer: Answer, created: int) -> dict[str, Any]:
    """The whole body."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal or None}
    if answer.tool_calls:
        message["tool_calls"] = [render_call(call) for call in answer.tool_calls]
    choice = {"index": 0, "message": message, "finish_reason": read_finish(answer), "logprobs": None}
    return {
        **render_head(prompt, answer, created, "chat.completion"),
        "choices": [choice],
        "usage": render_usage(prompt, answer),
    }


def stream_completion(prompt: Prompt, answer: Answer, created: int) -> Iterator[dict[str, Any]]:
    """The chunks, the one with usage last and only when the request asks for it."""
    head = render_head(prompt, answer, created, "chat.completion.chunk")
    for delta in stream_deltas(answer):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": read_finish(answer)}]}
    if prompt.stream_usage:
        yield {**head, "choices": [], "usage": render_usage(prompt, answer)}


def stream_deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    """What changes from chunk to chunk."""
    yield {"role": "assistant", "content": ""}
    for piece in answer.pieces():
        yield {"content": piece}
    if answer.refusal:
        yield {"refusal": answer.refusal}
    for index, call in enumerate(answer.tool_calls):
        opened = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": opened}]}
        yield {"tool_calls": [{"index": index, "function": {"arguments": call.arguments}}]}


def render_head(prompt: Prompt, answer: Answer, created: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": kind,
        "created": created,
        "model": prompt.model,
        "system_fingerprint": FINGERPRINT,
    }


def render_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def read_finish(answer: Answer) -> str:
    return "tool_calls" if answer.tool_calls and answer.finish == "stop" else answer.finish


def render_usage(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    tokens = count_tokens(prompt, answer)
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }
