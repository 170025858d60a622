"""What a model answers, before it becomes one wire or the other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

from local.offline_model.wire.prompts import Prompt, ToolCall

CHARACTERS_PER_TOKEN = 4
WORDS = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True)
class TokenCount:
    """The usage to report. `cached` is part of `input`."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True)
class Answer:
    """Text, tool calls or a refusal. `finish` other than `stop` says that the answer was cut, and why."""

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    refusal: str = ""
    finish: Literal["stop", "length", "content_filter"] = "stop"
    tokens: TokenCount | None = None
    id: str = field(default_factory=lambda: uuid4().hex)

    def pieces(self) -> list[str]:
        """The text word by word, as it is streamed."""
        return WORDS.findall(self.text)


def count_tokens(prompt: Prompt, answer: Answer) -> TokenCount:
    """The answer's own count, else about one token for four characters."""
    if answer.tokens is not None:
        return answer.tokens
    asked = sum(
        len(message.text) + sum(len(call.arguments) for call in message.tool_calls) for message in prompt.messages
    )
    said = len(answer.text) + len(answer.refusal) + sum(len(call.arguments) for call in answer.tool_calls)
    return TokenCount(approximate_tokens(asked), approximate_tokens(said))


def approximate_tokens(characters: int) -> int:
    return max(1, characters // CHARACTERS_PER_TOKEN)


def call_tool(name: str, arguments: str) -> ToolCall:
    """A new call with an id of its own."""
    return ToolCall(f"call_{uuid4().hex[:24]}", name, arguments)
