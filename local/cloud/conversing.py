"""A client of the HTTP API that prints what a person would see, with timings: for the demo."""

import itertools
import textwrap
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

WIDTH = 100
ENDS = {"interaction.requested", "interaction.rejected", "run.completed", "run.blocked", "run.failed", "run.cancelled"}
# In the order in which the Training Finder asks: what, how much time, in which form.
FREE_TEXT_ANSWERS = (
    "Python for data analysis, and I am a beginner",
    "About four hours a week for three months",
    "Short online courses with exercises",
)


class DemoError(Exception):
    """A turn did not come out as the demo tells it should."""


@dataclass
class Conversation:
    """One conversation of a signed-in person."""

    client: httpx2.AsyncClient
    id: str
    _seen: dict[str, int] = field(default_factory=dict)

    @classmethod
    async def start(cls, client: httpx2.AsyncClient, assistant: str = "oria", **body: Any) -> "Conversation":
        """A new conversation; without a locale, the language of each message decides."""
        return cls(client, str((await _post(client, "/v1/conversations", {"assistant": assistant, **body}))["id"]))

    async def say(self, message: str, *expected: str) -> dict[str, Any]:
        """Send a message, print the answer as it streams, answer the turn. Raises DemoError for another status."""
        print(f"\nyou    {_indent(message)}", flush=True)
        started = time.perf_counter()
        turn = await _post(self.client, f"/v1/conversations/{self.id}/turns", {"message": message})
        return await self._follow(turn, started, expected)

    async def answer(self, turn: Mapping[str, Any], *expected: str) -> dict[str, Any]:
        """Answer the questions of a paused turn: the first option of each, or a text."""
        interaction = turn["outcome"]["interaction"]
        texts = itertools.cycle(FREE_TEXT_ANSWERS)
        answers = [choose_answer(question, next(texts)) for question in interaction["questions"]]
        for question, answer in zip(interaction["questions"], answers, strict=True):
            print(f"\nyou    {_indent(describe_answer(question, answer))}", flush=True)
        started = time.perf_counter()
        resumed = await _post(self.client, f"/v1/interactions/{interaction['id']}/response", {"answers": answers})
        return await self._follow(resumed, started, expected)

    async def _follow(self, turn: Mapping[str, Any], started: float, expected: Sequence[str]) -> dict[str, Any]:
        first_text = None
        async for kind in self._events(turn["id"]):
            if kind == "message.delta" and first_text is None:
                first_text = time.perf_counter() - started
        final = await _get(self.client, f"/v1/turns/{turn['id']}")
        seconds = time.perf_counter() - started
        _print_outcome(final, seconds, first_text)
        if final["status"] not in expected:
            raise DemoError(f"expected {' or '.join(expected)}, got {final['status']}: {final['outcome']}")
        return final

    async def _events(self, turn_id: str) -> AsyncIterator[str]:
        """Types of new events until the turn ends or pauses; a stream that was cut is taken up again."""
        while True:
            headers = {"Last-Event-ID": str(self._seen[turn_id])} if turn_id in self._seen else {}
            async with self.client.stream("GET", f"/v1/turns/{turn_id}/events", headers=headers) as response:
                if response.status_code != 200:
                    return
                async for line in response.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        self._seen[turn_id] = int(value)
                    elif name == "event":
                        kind = value
                    elif name == "data":
                        yield kind
                        if kind in ENDS:
                            return


def choose_answer(question: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The first option, or the text where there are none."""
    if question["options"]:
        return {"question_id": question["id"], "option_ids": [question["options"][0]["id"]]}
    return {"question_id": question["id"], "text": text}


def describe_answer(question: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """An answer in the words of its options."""
    labels = {option["id"]: option["label"] for option in question["options"]}
    return str(answer.get("text") or ", ".join(labels[identifier] for identifier in answer["option_ids"]))


def _print_outcome(turn: Mapping[str, Any], seconds: float, first_text: float | None) -> None:
    outcome = turn["outcome"] or {}
    questions = (outcome.get("interaction") or {}).get("questions", [])
    if outcome.get("text") and not questions:
        print(f"oria   {_indent(outcome['text'])}")
    for question in questions:
        print(f"oria ? {_indent(question['text'])}")
        for option in question["options"]:
            print(f"       - {option['label']}")
    for card in outcome.get("cards", []):
        title = card.get("title") or card.get("name") or ""
        print(f"       [{card['type']}] {title}".rstrip())
    streamed = "" if first_text is None else f", first text after {first_text:.1f} s"
    who = turn["agent"] or ("gate" if turn["assistant"] == "oria" else turn["assistant"])
    print(f"       ({turn['status']}, {who}, {seconds:.1f} s{streamed})", flush=True)


def _indent(text: str) -> str:
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
    return "\n       ".join(lines)


async def _post(client: httpx2.AsyncClient, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return _read(await client.post(path, json=body))


async def _get(client: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    return _read(await client.get(path))


def _read(response: httpx2.Response) -> dict[str, Any]:
    if response.is_error:
        raise DemoError(f"{response.request.method} {response.request.url}: {response.status_code} {response.text}")
    return dict(response.json())
