"""A model server that says what a test tells it to, over real HTTP and on every wire that Oria uses.

    async with serve_scripted_model() as script:          # in the test's own event loop
        script.on(label="langgraph.supervisor").reply(choose("training_finder"))
        script.on(endpoint="chat", tool="search").reply(call("search", query="python"), say("Found it."))
        ...
        assert script.count(label="langgraph.supervisor") == 1

`run_scripted_model()` runs the same in a thread of its own, for tests that block or start worker processes, and
`python -m tests.support.scripted_model --port 0` as a process (`GET /requests` lists what it saw; `--script
module:function` calls the function with the script first).

The newest rule that matches wins; its steps are used in order and the last one repeats. `queue` goes before all
rules, one step for each request. Without a rule: decisions answer "allow" where it is offered, else the first choice;
predicates answer no; a forced tool is called with the least arguments; schemas get their least instance; everything
else gets DEFAULT_TEXT. Embeddings are a deterministic unit vector of the text.
"""

import argparse
import asyncio
import hashlib
import math
import re
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from local.offline_model.wire.decisions import read_decision_request
from local.offline_model.wire.embeddings import read_texts, render_embeddings
from local.offline_model.wire.prompts import Prompt, read_completion_prompt, read_responses_prompt
from local.offline_model.wire.server import HttpReply, HttpRequest, reply_error, reply_json, serve
from tests.support.anthropic_wire import find_problem, read_messages_prompt, reply_message_error
from tests.support.model_steps import (
    DEFAULT_TEXT,
    Seen,
    Step,
    answer_by_default,
    answer_with,
    call,
    call_all,
    call_raw,
    choose,
    cut,
    decide,
    decide_raw,
    drop,
    embed_with,
    end_early,
    fail,
    give,
    hang,
    malformed,
    refuse,
    say,
    wait,
)

__all__ = [
    "DEFAULT_TEXT",
    "Rule",
    "Script",
    "Seen",
    "Step",
    "answer_with",
    "call",
    "call_all",
    "call_raw",
    "choose",
    "cut",
    "decide",
    "decide_raw",
    "drop",
    "embed_with",
    "end_early",
    "fail",
    "give",
    "hang",
    "malformed",
    "refuse",
    "run_scripted_model",
    "say",
    "serve_scripted_model",
    "wait",
]

TASK_HEADER = "x-oria-task"
CHAT_ENDPOINTS = ("chat/completions", "responses", "messages")
# What stands before an endpoint: /v1 of OpenAI and Anthropic, Azure's path with or without a deployment.
BEFORE_ENDPOINT = re.compile(r"^/(v1|openai/deployments/[^/]+|openai)/")
PROMPTS: Mapping[str, Callable[[Mapping[str, Any]], Prompt]] = {
    "chat/completions": read_completion_prompt,
    "responses": read_responses_prompt,
    "messages": read_messages_prompt,
}
DIMENSIONS = 512


@dataclass
class Rule:
    """Which requests it is for, and the steps that answer them."""

    label: str | None = None
    endpoint: str | None = None
    tool: str | None = None
    text: str | None = None
    where: Callable[[Seen], bool] | None = None
    times: int | None = None
    steps: deque[Step] = field(default_factory=deque)

    def reply(self, *steps: Step) -> "Rule":
        """Append steps; the last of all repeats."""
        self.steps.extend(steps)
        return self

    def matches(self, seen: Seen) -> bool:
        """Whether the rule is for this request: `label` may hold wildcards, `endpoint` "chat" means both chat wires,
        `text` is searched in the whole body."""
        endpoints = CHAT_ENDPOINTS if self.endpoint == "chat" else (self.endpoint,)
        return (
            (self.label is None or fnmatchcase(seen.label, self.label))
            and (self.endpoint is None or seen.endpoint in endpoints)
            and (self.tool is None or self.tool in seen.tools)
            and (self.text is None or self.text in seen.text)
            and (self.where is None or self.where(seen))
        )

    def take(self) -> Step | None:
        """The step for the next request, or None when the rule is used up."""
        if not self.steps or self.times == 0:
            return None
        if self.times is not None:
            self.times -= 1
        return self.steps.popleft() if len(self.steps) > 1 else self.steps[0]


@dataclass
class Script:
    """What the server will answer and what it was asked. `base_url` is what OPENAI_BASE_URL wants."""

    base_url: str = ""
    requests: list[Seen] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    queued: deque[Step] = field(default_factory=deque)
    peers: set[str] = field(default_factory=set)

    @property
    def connections(self) -> int:
        """How many connections the requests came by."""
        return len(self.peers)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a process that shall use this server, whichever provider a profile names."""
        origin = self.base_url.removesuffix("/v1")
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": "scripted",
            "AZURE_OPENAI_ENDPOINT": origin,
            "AZURE_OPENAI_API_KEY": "azure-key",
            "OVH_AI_ENDPOINTS_BASE_URL": self.base_url,
            "OVH_AI_ENDPOINTS_ACCESS_TOKEN": "ovh-key",
            "COMPATIBLE_BASE_URL": self.base_url,
            "COMPATIBLE_API_KEY": "compatible-key",
            "ANTHROPIC_BASE_URL": origin,
            "ANTHROPIC_API_KEY": "anthropic-key",
        }

    def on(
        self,
        *,
        label: str | None = None,
        endpoint: str | None = None,
        tool: str | None = None,
        text: str | None = None,
        where: Callable[[Seen], bool] | None = None,
        times: int | None = None,
    ) -> Rule:
        """A new rule before the others; `times` bounds how often it is used."""
        rule = Rule(label, endpoint, tool, text, where, times)
        self.rules.insert(0, rule)
        return rule

    def queue(self, *steps: Step) -> None:
        """Steps for the next requests, whatever they are."""
        self.queued.extend(steps)

    def seen(self, **matching: Any) -> list[Seen]:
        """The recorded requests that a rule with these arguments would match."""
        rule = Rule(**matching)
        return [request for request in self.requests if rule.matches(request)]

    def count(self, **matching: Any) -> int:
        return len(self.seen(**matching))

    def reset(self) -> None:
        """Forget requests, rules and queue."""
        self.requests.clear()
        self.rules.clear()
        self.queued.clear()

    def take(self, seen: Seen) -> Step | None:
        """The step for a request, or None for the default."""
        if self.queued:
            return self.queued.popleft()
        taken = (rule.take() for rule in list(self.rules) if rule.matches(seen))
        return next((step for step in taken if step is not None), None)

    async def handle(self, request: HttpRequest) -> HttpReply:
        """Record a request and answer it."""
        if request.method == "GET":
            return reply_json([{"endpoint": seen.endpoint, "label": seen.label} for seen in self.requests])
        seen = read_request(request)
        self.requests.append(seen)
        self.peers.add(request.peer)
        if seen.endpoint == "messages" and (problem := find_problem(seen.body)):
            return reply_message_error(400, problem, {})
        step = self.take(seen)
        if step is None and seen.endpoint == "embeddings":
            texts = read_texts(seen.body)
            return reply_json(render_embeddings(seen.body, [embed_text(text) for text in texts]))
        try:
            return await (step or answer_by_default)(seen)
        except AssertionError as error:
            # A step for another endpoint: said in the answer, where a broken connection would only be retried.
            return reply_error(400, str(error))


def read_request(request: HttpRequest) -> Seen:
    """A recorded request with its prompt or questions read."""
    endpoint = BEFORE_ENDPOINT.sub("", request.path.partition("?")[0])
    body = request.read_json()
    prompt = PROMPTS[endpoint](body) if endpoint in PROMPTS else None
    decisions = read_decision_request(body) if endpoint == "decisions" else None
    label = request.headers.get(TASK_HEADER, "")
    now = asyncio.get_running_loop().time()
    return Seen(endpoint, label, body, now, prompt, decisions, request.path, request.headers)


def embed_text(text: str) -> list[float]:
    """A unit vector of 512 numbers that depends on the text alone; equal texts are equal, others nearly orthogonal."""
    stream = hashlib.shake_256(text.encode()).digest(DIMENSIONS * 2)
    numbers = [value / 32_768 for value in struct.unpack(f"<{DIMENSIONS}h", stream)]
    norm = math.sqrt(sum(number * number for number in numbers))
    return [number / norm for number in numbers]


@asynccontextmanager
async def serve_scripted_model(port: int = 0) -> AsyncIterator[Script]:
    """A scripted model in the running event loop."""
    script = Script()
    async with serve(script.handle, port) as url:
        script.base_url = f"{url}/v1"
        yield script


@contextmanager
def run_scripted_model() -> Iterator[Script]:
    """A scripted model in a thread of its own; rules may be added while it runs."""
    ready = threading.Event()
    started: list[tuple[Script, asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        stop = asyncio.Event()
        async with serve_scripted_model() as script:
            started.append((script, asyncio.get_running_loop(), stop))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="scripted-model", daemon=True)
    thread.start()
    assert ready.wait(10), "the scripted model did not start"
    script, loop, stop = started[0]
    try:
        yield script
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


async def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until killed, after printing the base URL."""
    parser = argparse.ArgumentParser(description="A scripted, OpenAI-compatible model server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="module:function to call with the script before serving")
    options = parser.parse_args(arguments)
    async with serve_scripted_model(options.port) as script:
        if options.script:
            module, _, name = options.script.partition(":")
            getattr(import_module(module), name)(script)
        print(script.base_url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
