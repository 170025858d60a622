"""Answers in the shapes of `/v1/responses`: one body, or the events of a stream (openai SDK 3, `types/responses`)."""

from collections.abc import Iterator
from typing import Any

from local.offline_model.wire.answers import Answer, count_tokens
from local.offline_model.wire.completions import FINGERPRINT
from local.offline_model.wire.prompts import Prompt, ToolCall

CUT_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
Event = dict[str, Any]


def render_response(prompt: Prompt, answer: Answer, created: int) -> dict[str, Any]:
    """The whole body."""
    status = "completed" if answer.finish == "stop" else "incomplete"
    body = render_head(prompt, answer, created, status)
    if answer.finish != "stop":
        body["incomplete_details"] = {"reason": CUT_REASONS[answer.finish]}
    return {**body, "output": render_output(answer), "usage": render_usage(prompt, answer)}


def stream_response(prompt: Prompt, answer: Answer, created: int) -> Iterator[Event]:
    """The events, numbered in their order."""
    for number, event in enumerate(list_events(prompt, answer, created)):
        yield {**event, "sequence_number": number}


def list_events(prompt: Prompt, answer: Answer, created: int) -> Iterator[Event]:
    opened = render_head(prompt, answer, created, "in_progress")
    yield {"type": "response.created", "response": opened}
    yield {"type": "response.in_progress", "response": opened}
    index = 0
    if answer.text or answer.refusal or not answer.tool_calls:
        yield from stream_message(answer, index)
        index += 1
    for offset, call in enumerate(answer.tool_calls):
        yield from stream_call(call, index + offset)
    whole = render_response(prompt, answer, created)
    yield {"type": f"response.{whole['status']}", "response": whole}


def stream_message(answer: Answer, index: int) -> Iterator[Event]:
    """A message item from its opening to its end."""
    item_id = f"msg_{answer.id}"
    place = {"item_id": item_id, "output_index": index, "content_index": 0}
    empty = {"id": item_id, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    part = render_part(answer)
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **place, "part": open_part(answer)}
    if answer.refusal:
        yield {"type": "response.refusal.delta", **place, "delta": answer.refusal}
        yield {"type": "response.refusal.done", **place, "refusal": answer.refusal}
    else:
        for piece in answer.pieces():
            yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": answer.text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": render_message(answer)}


def stream_call(call: ToolCall, index: int) -> Iterator[Event]:
    """A function call item from its opening to its end."""
    item = render_call(call)
    place = {"item_id": item["id"], "output_index": index}
    opened = {**item, "arguments": "", "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}
    yield {"type": "response.function_call_arguments.delta", **place, "delta": call.arguments}
    yield {
        "type": "response.function_call_arguments.done",
        **place,
        "name": call.name,
        "arguments": call.arguments,
    }
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def render_head(prompt: Prompt, answer: Answer, created: int, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": created,
        "status": status,
        "model": prompt.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "metadata": {"system_fingerprint": FINGERPRINT},
        "text": prompt.body.get("text") or {"format": {"type": "text"}},
    }


def render_output(answer: Answer) -> list[dict[str, Any]]:
    """The items: a message when there is anything to say or nothing to call, then the calls."""
    spoken = [render_message(answer)] if answer.text or answer.refusal or not answer.tool_calls else []
    return [*spoken, *(render_call(call) for call in answer.tool_calls)]


def render_message(answer: Answer) -> dict[str, Any]:
    status = "completed" if answer.finish == "stop" else "incomplete"
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [render_part(answer)],
    }


def render_part(answer: Answer) -> dict[str, Any]:
    if answer.refusal:
        return {"type": "refusal", "refusal": answer.refusal}
    return {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}


def open_part(answer: Answer) -> dict[str, Any]:
    if answer.refusal:
        return {"type": "refusal", "refusal": ""}
    return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def render_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": f"fc_{call.id.removeprefix('call_')}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }


def render_usage(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    tokens = count_tokens(prompt, answer)
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.output,
    }
