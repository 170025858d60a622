"""Steps as particular providers answer them: with what they add, and without what they leave out."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from local.offline_model.wire.server import HttpReply, render_events, reply_json
from tests.support.anthropic_wire import SIGNATURE, render_error
from tests.support.model_steps import Seen, Step

Event = dict[str, Any]
Change = Callable[[Seen, Event], Iterable[Event]]


def rewrite(step: Step, change: Change) -> Step:
    """The step with each event of its stream, or its one body, replaced by what `change` makes of it."""

    async def run(seen: Seen) -> HttpReply:
        reply = await step(seen)
        if isinstance(reply.body, bytes):
            (body,) = change(seen, json.loads(reply.body))
            return replace(reply, body=json.dumps(body).encode())
        return replace(reply, body=rewrite_stream(seen, reply.body, change))

    return run


async def rewrite_stream(seen: Seen, pieces: AsyncIterator[bytes], change: Change) -> AsyncIterator[bytes]:
    async for piece in pieces:
        data = piece.partition(b"data: ")[2].strip()
        if data == b"[DONE]":
            yield piece
            continue
        named = piece.startswith(b"event:")
        for event in change(seen, json.loads(data)):
            yield render_events([event], named=named)[0]


def without_usage(step: Step) -> Step:
    """No usage, as some compatible servers answer."""
    return rewrite(step, lambda _, event: [{key: value for key, value in event.items() if key != "usage"}])


def without_call_fields(step: Step, *names: str) -> Step:
    """Tool calls that lack these fields (`id`, `index`)."""

    def change(_: Seen, event: Event) -> Iterator[Event]:
        for choice in event.get("choices", ()):
            for call in (choice.get("message") or choice.get("delta") or {}).get("tool_calls") or ():
                for name in names:
                    call.pop(name, None)
        yield event

    return rewrite(step, change)


def with_prompt_filter(step: Step) -> Step:
    """Azure's first chunk, which has no choices, and its verdicts beside each choice."""
    verdicts = {"hate": {"filtered": False, "severity": "safe"}}
    opened: set[int] = set()

    def change(seen: Seen, event: Event) -> Iterator[Event]:
        filtered = [{"prompt_index": 0, "content_filter_results": verdicts}]
        if event["object"] != "chat.completion.chunk":
            yield {**event, "prompt_filter_results": filtered}
            return
        if id(seen) not in opened:
            opened.add(id(seen))
            yield {**event, "model": "", "id": "", "choices": [], "prompt_filter_results": filtered}
        yield {**event, "choices": [{**choice, "content_filter_results": verdicts} for choice in event["choices"]]}

    return rewrite(step, change)


def filtered() -> Step:
    """Azure's refusal of a prompt: 400."""
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}}
    error = {"code": "content_filter", "message": "filtered", "type": None, "param": "prompt", "innererror": inner}

    async def run(seen: Seen) -> HttpReply:
        return reply_json({"error": {**error, "status": 400}}, 400)

    return run


def written(step: Step, count: int) -> Step:
    """Anthropic's usage with that many tokens written to the five-minute cache, taken from the plain input."""

    def change(_: Seen, event: Event) -> Iterator[Event]:
        for usage in (event.get("usage"), (event.get("message") or {}).get("usage")):
            if usage:
                usage["input_tokens"] -= count
                usage["cache_creation_input_tokens"] = count
                usage["cache_creation"] = {"ephemeral_5m_input_tokens": count, "ephemeral_1h_input_tokens": 0}
        yield event

    return rewrite(step, change)


def break_stream(step: Step, status: int, *, after: int) -> Step:
    """Anthropic's error event in a stream that has begun with a 200."""
    sent = 0

    def change(_: Seen, event: Event) -> Iterator[Event]:
        nonlocal sent
        sent += 1
        yield event if sent <= after else render_error(status, "scripted")

    return rewrite(step, change)


def reason(step: Step) -> Step:
    """The answer after some private reasoning, as the provider of the wire keeps it."""

    def change(seen: Seen, event: Event) -> Iterator[Event]:
        if seen.endpoint == "messages":
            yield from think_first(seen, event)
        elif seen.endpoint == "responses":
            yield from reason_first(event)
        else:
            yield event

    return rewrite(step, change)


def think_first(seen: Seen, event: Event) -> Iterator[Event]:
    """Signed thinking before the rest, in a body or in events."""
    block = {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE + str(seen.body["model"])}
    if event["type"] == "message":
        yield {**event, "content": [block, *event["content"]]}
        return
    yield {**event, "index": event["index"] + 1} if "index" in event else event
    if event["type"] == "message_start":
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "thinking": "", "signature": ""}}
        for kind, value in (("thinking", block["thinking"]), ("signature", block["signature"])):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: value}}
        yield {"type": "content_block_stop", "index": 0}


def reason_first(event: Event) -> Iterator[Event]:
    """A reasoning item before the rest, in a body or in events."""
    if event.get("object") == "response":
        yield {**event, "output": [reasoning_item(event["id"]), *event["output"]]}
        return
    if "response" in event and event["response"]["status"] != "in_progress":
        response: Mapping[str, Any] = event["response"]
        whole = {**response, "output": [reasoning_item(response["id"]), *response["output"]]}
        yield {**event, "response": whole}
        return
    yield {**event, "output_index": event["output_index"] + 1} if "output_index" in event else event
    if event["type"] == "response.in_progress":
        item = reasoning_item(event["response"]["id"])
        for kind in ("added", "done"):
            yield {"type": f"response.output_item.{kind}", "output_index": 0, "item": item, "sequence_number": 1}


def reasoning_item(response_id: str) -> dict[str, Any]:
    return {"id": f"rs_{response_id}", "type": "reasoning", "summary": [], "status": "completed"}
