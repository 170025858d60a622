"""Steps of a scripted model: each makes the reply to one request, good or faulty."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from local.offline_model.wire.answers import Answer, TokenCount, call_tool
from local.offline_model.wire.api import reply_answer
from local.offline_model.wire.decisions import (
    DecisionRequest,
    Question,
    Value,
    render_choice,
    render_decisions,
    render_predicate,
)
from local.offline_model.wire.prompts import Prompt
from local.offline_model.wire.server import DroppedConnectionError, HttpReply, reply_error, reply_json
from tests.support.anthropic_wire import reply_message, reply_message_error
from tests.support.model_instances import build_instance

DEFAULT_TEXT = "This is a scripted answer."


@dataclass(frozen=True)
class Seen:
    """A recorded request. `endpoint` is the path below /v1, or below Azure's deployment; `at` is on the server's event
    loop clock, in seconds."""

    endpoint: str
    label: str
    body: Mapping[str, Any]
    at: float
    prompt: Prompt | None = None
    decisions: DecisionRequest | None = None
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole body as JSON text, to search in."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.prompt.tools] if self.prompt else []


Step = Callable[[Seen], Awaitable[HttpReply]]


def answer_with(answer: Answer, pace: float = 0.0) -> Step:
    """Answer a chat request; `pace` is the pause between streamed pieces in seconds."""

    async def run(seen: Seen) -> HttpReply:
        assert seen.prompt is not None, f"a chat answer is scripted for {seen.endpoint}"
        if seen.endpoint == "messages":
            return reply_message(seen.prompt, replace(answer), pace=pace)
        return reply_answer(seen.prompt, replace(answer), pace=pace)

    return run


def say(text: str, *, tokens: TokenCount | None = None, pace: float = 0.0) -> Step:
    """Answer with a text."""
    return answer_with(Answer(text, tokens=tokens), pace)


def call(name: str, /, **arguments: Any) -> Step:
    """Call one tool."""
    return call_all((name, arguments))


def call_all(*calls: tuple[str, Mapping[str, Any]]) -> Step:
    """Call several tools in one answer."""

    async def run(seen: Seen) -> HttpReply:
        made = [call_tool(name, json.dumps(arguments)) for name, arguments in calls]
        return await answer_with(Answer(tool_calls=made))(seen)

    return run


def call_raw(name: str, arguments: str) -> Step:
    """Call a tool with arguments that need not be JSON."""
    return answer_with(Answer(tool_calls=[call_tool(name, arguments)]))


def give(value: Any) -> Step:
    """Answer with a JSON value, as a schema asks for it."""
    return say(json.dumps(value, ensure_ascii=False))


def refuse(text: str = "I cannot help with that.") -> Step:
    """Refuse: the provider's refusal of a chat request, or a refusal for every question."""

    async def run(seen: Seen) -> HttpReply:
        if seen.decisions is None:
            return await answer_with(Answer(refusal=text))(seen)
        answers = [{"type": "refusal", "name": question.name} for question in seen.decisions.questions]
        return reply_json(render_decisions(seen.decisions, answers))

    return run


def cut(text: str = "An answer that stops in the") -> Step:
    """Answer with a text that the output budget cut."""
    return answer_with(Answer(text, finish="length"))


def choose(value: Value) -> Step:
    """Choose a value, offered or not: natively in every choice question, else in the first enum of the schema."""

    async def run(seen: Seen) -> HttpReply:
        if seen.decisions is None:
            schema = seen.prompt.schema if seen.prompt else None
            return await give(build_instance(schema or {}, choice=value))(seen)
        return await decide(**{question.name: value for question in seen.decisions.questions})(seen)

    return run


def decide(**values: Value | float) -> Step:
    """Answer decision questions by name: a string chooses, a number is a predicate's probability."""

    async def run(seen: Seen) -> HttpReply:
        assert seen.decisions is not None, f"a decision is scripted for {seen.endpoint}"
        answers = [render_decision(question, values.get(question.name)) for question in seen.decisions.questions]
        return reply_json(render_decisions(seen.decisions, answers))

    return run


def render_decision(question: Question, value: Value | float | None) -> dict[str, Any]:
    """The answer to one question, the default when the script has none for it."""
    if question.type == "predicate":
        return render_predicate(question, value if isinstance(value, float | int) else 0.0)
    chosen = pick_default(question) if value is None or isinstance(value, float) else value
    distribution: dict[Value | int, float] = dict.fromkeys(question.options, 0.0)
    return render_choice(question, {**distribution, chosen: 1.0})


def pick_default(question: Question) -> Value | int:
    return "allow" if "allow" in question.options else next(iter(question.options))


def decide_raw(*answers: Mapping[str, Any]) -> Step:
    """Answer a decision request with exactly these answers, however wrong they are."""

    async def run(seen: Seen) -> HttpReply:
        assert seen.decisions is not None
        return reply_json(render_decisions(seen.decisions, answers))

    return run


def embed_with(vectors: Sequence[Sequence[float]]) -> Step:
    """Answer an embeddings request with exactly these vectors, as numbers."""

    async def run(seen: Seen) -> HttpReply:
        data = [{"object": "embedding", "index": i, "embedding": list(v)} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return reply_json({"object": "list", "model": seen.body["model"], "data": data, "usage": usage})

    return run


def fail(status: int, *, retry_after: float | None = None) -> Step:
    """Answer with an HTTP error, and seconds of Retry-After."""

    async def run(seen: Seen) -> HttpReply:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        if seen.endpoint == "messages":
            return reply_message_error(status, f"scripted {status}", headers)
        return reply_error(status, f"scripted {status}", headers)

    return run


def malformed(body: bytes = b'{"this is": no JSON') -> Step:
    """Answer 200 with a body that is no answer."""

    async def run(seen: Seen) -> HttpReply:
        return HttpReply(200, body)

    return run


def hang() -> Step:
    """Never answer; the connection stays open until the client or the server goes."""

    async def run(seen: Seen) -> HttpReply:
        await asyncio.Event().wait()
        raise DroppedConnectionError

    return run


def drop(step: Step | None = None, *, after: int = 0) -> Step:
    """Break the connection off: at once, or after that many pieces of a streamed `step`."""

    async def run(seen: Seen) -> HttpReply:
        if step is None:
            raise DroppedConnectionError
        reply = await step(seen)
        assert not isinstance(reply.body, bytes), "only a stream can be dropped in the middle"
        return replace(reply, body=send_some(reply.body, after, DroppedConnectionError()))

    return run


def end_early(step: Step, *, after: int) -> Step:
    """End a stream politely after that many pieces, as a proxy with a limit does."""

    async def run(seen: Seen) -> HttpReply:
        reply = await step(seen)
        assert not isinstance(reply.body, bytes), "only a stream can end early"
        return replace(reply, body=send_some(reply.body, after, None))

    return run


async def send_some(pieces: AsyncIterator[bytes], count: int, error: Exception | None) -> AsyncIterator[bytes]:
    sent = 0
    async for piece in pieces:
        if sent == count:
            break
        yield piece
        sent += 1
    if error is not None:
        # Lets the client read what came before.
        await asyncio.sleep(0.02)
        raise error


def wait(seconds: float, step: Step) -> Step:
    """Answer after a delay."""

    async def run(seen: Seen) -> HttpReply:
        await asyncio.sleep(seconds)
        return await step(seen)

    return run


async def answer_by_default(seen: Seen) -> HttpReply:
    """The answer where nothing is scripted: see `scripted_model`."""
    if seen.decisions is not None:
        return await decide()(seen)
    assert seen.prompt is not None
    forced = seen.prompt.tool_choice not in {None, "auto", "none"}
    if seen.prompt.schema is not None:
        return await give(build_instance(seen.prompt.schema))(seen)
    if forced and seen.prompt.tools:
        named = [tool for tool in seen.prompt.tools if tool.name == seen.prompt.tool_choice]
        tool = (named or list(seen.prompt.tools))[0]
        return await call_all((tool.name, build_instance(tool.parameters)))(seen)
    return await say(DEFAULT_TEXT)(seen)
