"""A model server that answers at once, by the script in `requests.py`: what is left of a turn is not the model's time.

Embeddings are those of the offline model, from its memory after the first time, so that searches find what they should.
`python -m local.bench.scripted_model --port 8001` serves until it is killed; a process of its own does not slow the
cloud's event loop.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from local.bench.requests import REQUESTS, WRITTEN, Request
from local.cloud.configuration import OFFLINE_EMBEDDING_MODEL
from local.cloud.http_server import find_free_port
from local.cloud.options import ROOT
from local.cloud.process import Process, wait_until_listening
from local.offline_model.embedder import Embedder
from local.offline_model.wire.answers import Answer, call_tool
from local.offline_model.wire.api import ModelApi
from local.offline_model.wire.decisions import DecisionRequest, Question, render_choice, render_predicate
from local.offline_model.wire.prompts import Prompt
from local.offline_model.wire.server import serve

START_SECONDS = 60.0
TEXT = "That is done; look at it in peace and tell me what is missing."
# What the decisions of gate, searches and requests say, where they offer it.
DECIDED = ("allow", "search", "profile")
# As the supervisor's evidence names the colleague whom the turn's first specialist has confirmed.
CONFIRMED, AFTER_CONFIRMATION = "confirmed_person", "career_chat"


class ModelNotStartedError(Exception):
    """The server's process ended or never listened; the message holds its last lines."""


class ScriptedBrain:
    """Answers as the script says. Raises LookupError for what it does not know, which the wire answers with 400."""

    def __init__(self) -> None:
        self._embedder = Embedder()

    async def answer(self, prompt: Prompt) -> Answer:
        """The schema's instance, the request's tool call before its result is there, else a short text."""
        if prompt.schema is not None:
            return Answer(json.dumps(WRITTEN[prompt.schema_name]))
        offered = {tool.name for tool in prompt.tools}
        request = find_request("\n".join(message.text for message in prompt.messages if message.role == "user"))
        if request.tool in offered and prompt.messages[-1].role != "tool":
            return Answer(tool_calls=[call_tool(request.tool, json.dumps(request.arguments))])
        return Answer(TEXT)

    async def decide(self, request: DecisionRequest) -> Sequence[Mapping[str, Any]]:
        """No to every predicate, and the scripted choice."""
        return [
            render_predicate(question, 0.0) if question.type == "predicate" else choose(question, request.text)
            for question in request.questions
        ]

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The offline model's vectors."""
        return [[float(number) for number in vector] for vector in self._embedder.embed(texts)]


def find_request(text: str) -> Request:
    """The request whose message a text holds: a conversation of the benchmark has one only. Raises LookupError."""
    try:
        return next(request for request in REQUESTS if request.message in text)
    except StopIteration:
        raise LookupError("no request of the script is in this prompt") from None


def choose(question: Question, text: str) -> dict[str, Any]:
    """The specialist of the request, or the decision that lets it go on."""
    offered = question.options
    value = next((value for value in DECIDED if value in offered), None)
    if value is None:
        value = AFTER_CONFIRMATION if CONFIRMED in text else find_request(text).agent
    return render_choice(question, {**dict.fromkeys(offered, 0.0), value: 1.0})


@asynccontextmanager
async def run_scripted_model() -> AsyncIterator[dict[str, str]]:
    """Serve in a process of its own; gives the environment of who shall use it. Raises ModelNotStartedError."""
    port = find_free_port()
    lines: list[str] = []
    process = await Process.start(
        [sys.executable, "-m", "local.bench.scripted_model", "--port", str(port)],
        cwd=ROOT,
        environ=os.environ,
        write_line=lines.append,
        leashed=True,
    )
    try:
        if not await wait_until_listening(process, port, START_SECONDS):
            raise ModelNotStartedError("\n".join(lines[-20:]))
        yield {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_API_KEY": "scripted",
            "EMBEDDING_MODEL": OFFLINE_EMBEDDING_MODEL,
        }
    finally:
        await process.kill()


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.bench.scripted_model", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    brain = ScriptedBrain()
    await brain.embed(["ready"])
    async with serve(ModelApi(brain, prefix="scripted-").handle, port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
