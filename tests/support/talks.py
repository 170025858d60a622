"""Conversations over the local cloud's API as reviewed files: what was said and shown, every event, the models asked.

Events are read as clients read them, over SSE. What a client may rely on is checked on the way: numbers that grow,
activities that end, deltas that make the final text, an outcome that the last events and the transcript repeat.
"""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx2

from local.cloud.cloud import LocalCloud
from tests.support.scripted_model import Script

ENDS = {"interaction.requested", "interaction.rejected", "run.completed", "run.blocked", "run.failed", "run.cancelled"}
ENVELOPE = {"v", "turn_id", "seq", "type", "at"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MEMORY = "langgraph.memory_update"
# Parts of one card that are asked for at the same time arrive in any order.
CONCURRENT = "profile_analysis."

Json = dict[str, Any]


@dataclass
class Talk:
    """One conversation of one person; `script` is the model server, unless the offline model answers."""

    cloud: LocalCloud
    http: httpx2.AsyncClient
    token: str
    script: Script | None = None
    id: str = ""
    turns: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=dict)
    seen: int = -1

    async def start(self, assistant: str = "oria", **body: Any) -> "Talk":
        """Begin the conversation."""
        self.id = (await self.call("POST", "/conversations", {"assistant": assistant, **body}))["id"]
        return self

    async def say(self, message: str, **body: Any) -> Json:
        """A new turn until it ends or asks; returns it."""
        self.seen, asked = -1, self.count_requests()
        turn = await self.call("POST", f"/conversations/{self.id}/turns", {"message": message, **body})
        return await self.follow(turn, message, asked)

    async def answer(self, *answers: str | Sequence[str]) -> Json:
        """Answer each question of the pause: a text, labels of options, or "" to skip it."""
        interaction = self.last["outcome"]["interaction"]
        pairs = list(zip(interaction["questions"], answers, strict=True))
        body = {"answers": [write_answer(question, answer) for question, answer in pairs]}
        asked = self.count_requests()
        turn = await self.call("POST", f"/interactions/{interaction['id']}/response", body)
        said = {question["text"]: answer or "(skipped)" for question, answer in pairs}
        return await self.follow(turn, said, asked)

    def count_requests(self) -> int:
        return len(self.script.requests) if self.script else 0

    async def follow(self, turn: Json, said: Any, asked: int) -> Json:
        """Read the turn's events to their end and note it, with the requests after the first `asked` ones."""
        events = [event async for event in self.read_events(turn["id"])]
        # The memory of a turn may outlast it.
        await self.cloud.settle()
        self.last = await self.call("GET", f"/turns/{turn['id']}")
        assert_consistent(events, self.last)
        labels = [seen.label for seen in self.script.requests[asked:]] if self.script else []
        self.turns.append(
            {
                "person": said,
                "status": self.last["status"],
                "agent": self.last["agent"],
                "events": write_events(events),
                **write_questions(self.last),
                **write_labels(labels),
            }
        )
        return self.last

    async def read_events(self, turn_id: str) -> AsyncIterator[Json]:
        """New events until the turn ends or asks."""
        headers = {"authorization": f"Bearer {self.token}", "last-event-id": str(self.seen)}
        url = f"{self.cloud.url}/v1/turns/{turn_id}/events"
        async with self.http.stream("GET", url, headers=headers) as response:
            assert response.status_code == 200, response.status_code
            frame: dict[str, str] = {}
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                frame[name] = value
                if name == "data":
                    event = json.loads(value)
                    assert (event["v"], event["turn_id"], event["type"]) == (1, turn_id, frame["event"])
                    assert self.seen < event["seq"] == int(frame["id"])
                    self.seen = event["seq"]
                    yield event
                    if event["type"] in ENDS:
                        return

    async def call(self, method: str, path: str, body: Any = None) -> Json:
        headers = {"authorization": f"Bearer {self.token}"}
        answer = await self.http.request(method, f"{self.cloud.url}/v1{path}", json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return dict(answer.json())

    async def record(self) -> Json:
        """The conversation for its file."""
        page = await self.call("GET", f"/conversations/{self.id}/messages")
        transcript = [write_message(message) for message in page["items"]]
        assert self.last["outcome"]["text"] == page["items"][-1]["text"]
        assert self.last["outcome"]["cards"] == page["items"][-1]["cards"]
        return replace_ids({"turns": self.turns, "transcript": transcript})


def write_answer(question: Json, answer: str | Sequence[str]) -> Json:
    """An answer as the API takes it."""
    if not answer:
        return {"question_id": question["id"], "skip": True}
    if isinstance(answer, str):
        return {"question_id": question["id"], "text": answer}
    ids = {option["label"]: option["id"] for option in question["options"]}
    return {"question_id": question["id"], "option_ids": [ids[label] for label in answer]}


def assert_consistent(events: Sequence[Json], turn: Json) -> None:
    """Compare what was streamed with what the turn says afterwards."""
    outcome = turn["outcome"]
    started = [event["activity_id"] for event in events if event["type"] == "activity.started"]
    ended = [event["activity_id"] for event in events if event["type"] == "activity.completed"]
    assert sorted(started) == sorted(ended)
    for event in events:
        if event["type"] == "message.completed":
            assert (event["text"], event["cards"]) == (outcome["text"], outcome["cards"])
        if event["type"] == "interaction.requested":
            assert read_interaction(event) == read_interaction(outcome)
    if deltas := "".join(event["text"] for event in events if event["type"] == "message.delta"):
        assert deltas == outcome["text"]


def read_interaction(shown: Json) -> Json:
    """The interaction that an event or an outcome shows; they write the same instant in two ways."""
    interaction: Json = shown["interaction"]
    return interaction | {"expires_at": datetime.fromisoformat(interaction["expires_at"])}


def write_events(events: Sequence[Json]) -> list[str]:
    """A line for each event, runs of deltas as one, without what is in the file anyway."""
    lines: list[str] = []
    for event in events:
        data = {key: value for key, value in event.items() if key not in ENVELOPE and is_minimal(value)}
        data.pop("text", None)
        line = " ".join([event["type"], *(f"{key}={value}" for key, value in data.items())])
        if not (event["type"] == "message.delta" and lines[-1:] == [line]):
            lines.append(line)
    names = dict.fromkeys(event["activity_id"] for event in events if "activity_id" in event)
    for number, activity_id in enumerate(names, start=1):
        lines = [line.replace(f"activity_id={activity_id}", f"#{number}") for line in lines]
    return lines


def is_minimal(value: Any) -> bool:
    """Whether a value is short enough for a line: cards and questions stand elsewhere in the file."""
    return not isinstance(value, list | dict)


def write_questions(turn: Json) -> Json:
    interaction = turn["outcome"]["interaction"]
    if turn["status"] != "awaiting_input":
        return {}
    questions = [
        {**question, "options": [f"{option['id']}: {option['label']}" for option in question["options"]]}
        for question in interaction["questions"]
    ]
    return {"questions": questions}


def write_labels(labels: Sequence[str]) -> Json:
    """The models that were asked, in their order; those of the memory apart, which runs beside the others."""
    if not labels:
        return {}
    ordered: list[str] = []
    run: list[str] = []
    for label in [label for label in labels if not label.startswith(MEMORY)]:
        if not label.startswith(CONCURRENT):
            ordered += [*sorted(run), label]
            run = []
        else:
            run.append(label)
    memory = [label for label in labels if label.startswith(MEMORY)]
    return {"models": [*ordered, *sorted(run)], **({"memory": memory} if memory else {})}


def write_message(message: Mapping[str, Any]) -> Json:
    optional = {key: message[key] for key in ("cards", "sources") if message.get(key)}
    return {"role": message["role"], "text": message["text"], **optional}


def replace_ids(value: Json) -> Json:
    """Random ids as numbers in the order in which they appear."""
    text = json.dumps(value, ensure_ascii=False)
    found = dict.fromkeys(match.group() for match in UUID.finditer(text))
    for number, each in enumerate(found, start=1):
        text = text.replace(each, f"<id {number}>")
    replaced: Json = json.loads(text)
    return replaced
