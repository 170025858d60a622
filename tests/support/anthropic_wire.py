"""Anthropic's `/v1/messages` as a scripted model speaks it: requests read and checked, answers whole or streamed.

Source of the shapes: the types of the anthropic SDK 2 (`types/message.py`, `types/raw_message_stream_event.py`) and
https://platform.claude.com/docs/en/api/errors.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from local.offline_model.wire.answers import Answer, count_tokens
from local.offline_model.wire.api import EVENT_STREAM, send_paced
from local.offline_model.wire.prompts import Message, Prompt, Tool, ToolCall
from local.offline_model.wire.server import HttpReply, render_events, reply_json

STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
BLOCKS = {"user": {"text", "tool_result"}, "assistant": {"text", "tool_use", "thinking", "redacted_thinking"}}
FIELDS = {
    "text": {"type", "text", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
SIGNATURE = "signed-by-"


def read_messages_prompt(body: Mapping[str, Any]) -> Prompt:
    """The prompt of a Messages request. The endpoint's name is the nearest that a Prompt knows."""
    shape = (body.get("output_config") or {}).get("format") or {}
    system = [Message("system", block["text"]) for block in as_blocks(body.get("system"))]
    choice = body.get("tool_choice") or {"type": None}
    kind = "required" if choice["type"] == "any" else choice["type"]
    return Prompt(
        endpoint="chat/completions",
        model=body["model"],
        messages=[*system, *(part for message in body["messages"] for part in read_message(message))],
        # Tools that may not be called are there for the history's sake; no script is meant for them.
        tools=[read_tool(tool) for tool in body.get("tools") or () if kind != "none"],
        tool_choice=choice.get("name") or kind,
        schema_name="output" if shape else "",
        schema=shape.get("schema"),
        max_tokens=body.get("max_tokens"),
        stream=bool(body.get("stream")),
        body=body,
    )


def read_tool(tool: Mapping[str, Any]) -> Tool:
    return Tool(tool["name"], tool.get("description", ""), tool["input_schema"])


def as_blocks(content: Any) -> list[dict[str, Any]]:
    """Content as its blocks; a string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def read_message(message: Mapping[str, Any]) -> Iterator[Message]:
    blocks = as_blocks(message["content"])
    for block in blocks:
        if block["type"] == "tool_result":
            text = "".join(part.get("text", "") for part in as_blocks(block.get("content")))
            yield Message("tool", text, tool_call_id=block["tool_use_id"])
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = tuple(
        ToolCall(block["id"], block["name"], json.dumps(block["input"])) for block in blocks if "input" in block
    )
    if text or calls:
        yield Message(message["role"], text, calls)


def find_problem(body: Mapping[str, Any]) -> str:
    """What the API would reject in a request, or nothing."""
    turns = body["messages"]
    problems = [
        *check_roles([turn["role"] for turn in turns]),
        *(problem for turn in turns for problem in check_blocks(turn["role"], as_blocks(turn["content"]))),
        *check_pairs(turns),
        *check_tools(body),
        *check_thinking(body),
    ]
    return next(iter(problems), "")


def check_roles(roles: Sequence[str]) -> Iterator[str]:
    if not roles or roles[0] != "user" or roles[-1] != "user":
        yield f"the conversation must begin and end with the user: {roles}"
    if any(one == other for one, other in pairwise(roles)):
        yield f"roles must alternate: {roles}"


def check_blocks(role: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        kind = block["type"]
        if kind not in BLOCKS[role]:
            yield f"no block of {role} is of the type {kind}"
        elif set(block) - FIELDS[kind]:
            yield f"extra inputs in {kind}: {set(block) - FIELDS[kind]}"
        elif kind == "text" and not block["text"].strip():
            yield "text content blocks must be non-empty"
        elif kind == "tool_use" and not CALL_ID.fullmatch(block["id"]):
            yield f"not an id: {block['id']}"


def check_pairs(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every call has its result in the next message, and no result is without its call."""
    asked: list[str] = []
    for turn in turns:
        blocks = as_blocks(turn["content"])
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(asked):
            yield f"calls {asked} are followed by results {results}"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if len(set(asked)) != len(asked):
        yield f"tool_use ids must be unique: {asked}"


def check_tools(body: Mapping[str, Any]) -> Iterator[str]:
    kinds = {block["type"] for turn in body["messages"] for block in as_blocks(turn["content"])}
    if kinds & {"tool_use", "tool_result"} and not body.get("tools"):
        yield "requests which include tool_use or tool_result blocks must define tools"
    choice = (body.get("tool_choice") or {}).get("type")
    if choice in {"any", "tool"} and "-5-5" in body["model"]:
        yield "this model does not take forced tool use"


def check_thinking(body: Mapping[str, Any]) -> Iterator[str]:
    """Signed thinking is valid for the model that wrote it only."""
    for turn in body["messages"]:
        for block in as_blocks(turn["content"]):
            if block["type"] == "thinking" and block["signature"] != SIGNATURE + body["model"]:
                yield "invalid signature in thinking block"


def reply_message(prompt: Prompt, answer: Answer, *, pace: float = 0.0) -> HttpReply:
    """The answer as one body, or as events."""
    if prompt.stream:
        events = render_events(stream_message(prompt, answer), named=True)
        return HttpReply(200, send_paced(events, pace), EVENT_STREAM)
    whole = {**render_head(prompt, answer), "content": render_content(answer), "stop_reason": read_stop(answer)}
    return reply_json({**whole, "usage": render_usage(prompt, answer)})


def stream_message(prompt: Prompt, answer: Answer) -> Iterator[dict[str, Any]]:
    """The events of a message, with the final usage in the last but one."""
    usage = render_usage(prompt, answer)
    opened = {**render_head(prompt, answer), "content": [], "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": opened}
    yield {"type": "ping"}
    for index, block in enumerate(render_content(answer)):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in list_deltas(block, answer):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": read_stop(answer), "stop_sequence": None},
        "usage": usage,
    }
    yield {"type": "message_stop"}


def list_deltas(block: Mapping[str, Any], answer: Answer) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in answer.pieces()]
    arguments = next(call.arguments for call in answer.tool_calls if call.id == block["id"])
    return [{"type": "input_json_delta", "partial_json": arguments}]


def render_head(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    head = {"id": f"msg_{answer.id}", "type": "message", "role": "assistant", "model": prompt.model}
    return {**head, "stop_reason": None, "stop_sequence": None}


def render_content(answer: Answer) -> list[dict[str, Any]]:
    """Text and calls. A refusal has what was said before it, here nothing. Arguments that are no object stay text."""
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    return [*said, *(render_call(call) for call in answer.tool_calls)]


def render_call(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.read_arguments()}


def read_stop(answer: Answer) -> str:
    if answer.refusal:
        return "refusal"
    return "tool_use" if answer.tool_calls and answer.finish == "stop" else STOPS[answer.finish]


def render_usage(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    """Anthropic's `input_tokens` are those that were neither read from a cache nor written to one."""
    tokens = count_tokens(prompt, answer)
    return {
        "input_tokens": tokens.input - tokens.cached,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": tokens.output,
    }


def render_error(status: int, message: str) -> dict[str, Any]:
    """The error envelope."""
    kind = ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


def reply_message_error(status: int, message: str, headers: Mapping[str, str]) -> HttpReply:
    return reply_json(render_error(status, message), status, headers)
