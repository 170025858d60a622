"""The routes of an OpenAI-compatible server over anything that can answer, decide and embed."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

from local.offline_model.wire.answers import Answer
from local.offline_model.wire.completions import render_completion, stream_completion
from local.offline_model.wire.decisions import DecisionRequest, read_decision_request, render_decisions
from local.offline_model.wire.embeddings import read_texts, render_embeddings
from local.offline_model.wire.prompts import Prompt, read_completion_prompt, read_responses_prompt
from local.offline_model.wire.responses import render_response, stream_response
from local.offline_model.wire.server import HttpReply, HttpRequest, render_events, reply_error, reply_json

EVENT_STREAM = "text/event-stream"
logger = logging.getLogger(__name__)


class Brain(Protocol):
    """What is behind the wire. Decisions are rendered by `wire.decisions`."""

    async def answer(self, prompt: Prompt) -> Answer: ...

    async def decide(self, request: DecisionRequest) -> Sequence[Mapping[str, Any]]: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class ModelApi:
    """Routes requests to a brain. `pace` is the pause between streamed pieces, in seconds; answers name the asked model
    behind `prefix`, so that nobody takes them for its own."""

    def __init__(self, brain: Brain, *, prefix: str, pace: float = 0.0) -> None:
        self._brain = brain
        self._prefix = prefix
        self._pace = pace

    async def handle(self, request: HttpRequest) -> HttpReply:
        """The reply to a request; one that cannot be read is a 400 that says so."""
        if request.method != "POST":
            return reply_error(404, f"no such route: {request.method} {request.path}")
        try:
            body = request.read_json()
            return await self._route(request.path, {**body, "model": f"{self._prefix}{body['model']}"})
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            logger.warning("request not read", exc_info=error)
            return reply_error(400, f"the request cannot be read: {type(error).__name__}: {error}")

    async def _route(self, path: str, body: Mapping[str, Any]) -> HttpReply:
        match path.removeprefix("/v1"):
            case "/chat/completions":
                return await self._answer(read_completion_prompt(body))
            case "/responses":
                return await self._answer(read_responses_prompt(body))
            case "/decisions":
                request = read_decision_request(body)
                return reply_json(render_decisions(request, await self._brain.decide(request)))
            case "/embeddings":
                return reply_json(render_embeddings(body, await self._brain.embed(read_texts(body))))
        return reply_error(404, f"no such route: {path}")

    async def _answer(self, prompt: Prompt) -> HttpReply:
        return reply_answer(prompt, await self._brain.answer(prompt), pace=self._pace)


def reply_answer(prompt: Prompt, answer: Answer, *, pace: float = 0.0) -> HttpReply:
    """An answer on the wire that its prompt came by, streamed if it asks for that."""
    created = int(time.time())
    if prompt.endpoint == "responses":
        if prompt.stream:
            events = render_events(stream_response(prompt, answer, created), named=True)
            return HttpReply(200, send_paced(events, pace), EVENT_STREAM)
        return reply_json(render_response(prompt, answer, created))
    if prompt.stream:
        events = render_events(stream_completion(prompt, answer, created), named=False)
        return HttpReply(200, send_paced(events, pace), EVENT_STREAM)
    return reply_json(render_completion(prompt, answer, created))


async def send_paced(events: Sequence[bytes], pace: float) -> AsyncIterator[bytes]:
    """The events one by one."""
    for event in events:
        yield event
        await asyncio.sleep(pace)
