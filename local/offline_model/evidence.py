"""What a prompt is about: the latest words of the person, what they said before, and the data that came along.

Applications pass conversations as messages, or as JSON inside a message ("evidence", "data"). Nothing here knows a
particular application: in JSON, a text under a key that says "latest" or "current" is the latest, in a list of
`{role, text}` records those of the user are theirs.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from local.offline_model.phrases import asks_more
from local.offline_model.wire.prompts import Message, Prompt

LATEST_KEY = re.compile(
    r"latest|current_(?:message|request|question)|^(?:user_)?(?:message|request|question|query|text|input)$"
)
# What stands before a list, such as: Talk (data): [...]
LABEL = re.compile(r"[A-Za-z]\w*")
PERSON = {"user", "human", "person", "employee"}
SHORT_WORDS = 4
TEXT_KEYS = ("text", "content", "message")


@dataclass(frozen=True)
class Evidence:
    """`latest` is what to answer or judge, `earlier` the person's texts before it, oldest first, `data` all JSON.

    `results` are those of tools that are JSON, oldest first, each with the tool's name. `replies` says that the latest
    text answers what was asked after a tool's result.
    """

    latest: str
    earlier: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    results: Sequence[tuple[str, Any]] = ()
    replies: bool = False

    @property
    def request(self) -> str:
        """The latest text, with the one before it when it replies to a question or is too short to stand alone."""
        if self.earlier and (self.replies or len(self.latest.split()) <= SHORT_WORDS):
            return f"{self.earlier[-1].rstrip(' .')}. {self.latest}"
        return self.latest

    @property
    def subject(self) -> str:
        """What the request is about: what was asked before a reply, or before asking for more of the same."""
        if self.earlier and self.replies:
            return self.earlier[-1]
        first = [text for text in self.earlier if not asks_more(text)]
        return first[-1] if first and asks_more(self.latest) else self.request


def read_prompt_evidence(prompt: Prompt) -> Evidence:
    """The evidence of a chat prompt: plain user messages, and JSON inside them."""
    spoken: list[str] = []
    data: dict[str, Any] = {}
    for message in prompt.messages:
        if message.role == "user":
            found = find_json(message.text)
            if isinstance(found, dict):
                data |= found
            elif isinstance(found, list) and (label := LABEL.match(message.text)):
                data[label.group().casefold()] = found
            else:
                spoken.append(message.text)
    inner = replace(read_data(data), results=list_json_results(prompt))
    if not spoken:
        return inner
    return replace(inner, latest=spoken[-1], earlier=[*inner.earlier, *spoken[:-1]], replies=replies_to_tool(prompt))


def read_text_evidence(text: str) -> Evidence:
    """The evidence of a decision's input: JSON, or the text itself."""
    found = find_json(text)
    return read_data(found) if isinstance(found, dict) else Evidence(text)


def read_data(data: Mapping[str, Any]) -> Evidence:
    """The evidence of JSON data."""
    said = list(list_said(data))
    latest = next((value for key, value in data.items() if isinstance(value, str) and LATEST_KEY.search(key)), None)
    if latest is None:
        latest = said.pop() if said else max(list_strings(data), key=len, default="")
    return Evidence(latest, said, data)


def find_json(text: str) -> Any:
    """The JSON object or list that a text is, or ends with after a label."""
    start = min((index for index in (text.find("{"), text.find("[")) if index >= 0), default=-1)
    if start < 0:
        return None
    try:
        return json.loads(text[start:])
    except ValueError:
        return None


def list_said(value: Any) -> Iterator[str]:
    """The person's texts in lists of `{role, text}` records, in order."""
    if isinstance(value, Mapping):
        text = next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), None)
        if text is not None and value.get("role", value.get("type")) in PERSON:
            yield text
        for inner in value.values():
            yield from list_said(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from list_said(inner)


def list_strings(value: Any) -> Iterator[str]:
    """All strings in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from list_strings(inner)


def list_json_results(prompt: Prompt) -> list[tuple[str, Any]]:
    """The results of tools that are JSON, with the names of the tools."""
    names = {call.id: call.name for message in prompt.messages for call in message.tool_calls}
    results = ((message, find_json(message.text)) for message in prompt.messages if message.role == "tool")
    return [(names.get(message.tool_call_id, ""), found) for message, found in results if found is not None]


def list_turn(prompt: Prompt) -> list[Message]:
    """The messages since the person's last plain one; a reply to what a tool wanted to know goes on with its turn."""
    messages = list(prompt.messages)
    starts = [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and not isinstance(find_json(message.text), dict) and not is_reply(messages, index)
    ]
    return messages[starts[-1] + 1 :] if starts else messages


def replies_to_tool(prompt: Prompt) -> bool:
    """Whether the person's last plain message is such a reply."""
    messages = list(prompt.messages)
    spoken = [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and not isinstance(find_json(message.text), dict)
    ]
    return bool(spoken) and is_reply(messages, spoken[-1])


def is_reply(messages: Sequence[Message], index: int) -> bool:
    """Whether a message follows a question that came right after a tool's result."""
    if index < 2:
        return False
    question, result = messages[index - 1], messages[index - 2]
    return question.role == "assistant" and question.text.rstrip().endswith("?") and result.role == "tool"


def list_tool_results(prompt: Prompt) -> list[Message]:
    """The results of the turn."""
    return [message for message in list_turn(prompt) if message.role == "tool"]
