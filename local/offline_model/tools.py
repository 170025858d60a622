"""Picking a tool by its description, or none.

A tool is recognised by its own description and by the instructions' sentences that name it. It is called at most once
with the same arguments between two messages of the person.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from local.offline_model.choices import CLOSEST, Chooser
from local.offline_model.evidence import Evidence, find_json
from local.offline_model.sentences import split_sentences
from local.offline_model.wire.answers import call_tool
from local.offline_model.wire.prompts import Prompt, Tool, ToolCall

# The mean of the three closest clauses from which a tool is worth a call.
USEFUL = 0.27


@dataclass(frozen=True)
class ToolPicker:
    """Picks the call to make next. `fill` makes arguments for a tool's parameters, `lacks` says that it cannot."""

    chooser: Chooser
    fill: Callable[[Tool], dict[str, Any]]
    lacks: Callable[[Tool], bool]

    def pick(self, prompt: Prompt, evidence: Evidence) -> ToolCall | None:
        """A call, or None to answer. Honours `tool_choice`: none, required, or a tool's name."""
        if not prompt.tools or prompt.tool_choice == "none":
            return None
        forced = prompt.tool_choice not in {None, "auto"}
        named = [tool for tool in prompt.tools if tool.name == prompt.tool_choice]
        made = list_calls(prompt)
        if not forced and (made or self.chooser.is_greeting(evidence.latest)):
            return None
        candidates = named if forced and named else [tool for tool in prompt.tools if forced or not self.lacks(tool)]
        if not candidates:
            return None
        tool, score = self._find_best(candidates, prompt, evidence)
        if not forced and score < USEFUL:
            return None
        arguments = self.fill(tool)
        repeated = any(call.name == tool.name and call.read_arguments() == arguments for call in made)
        return None if repeated else call_tool(tool.name, json.dumps(arguments, ensure_ascii=False))

    def _find_best(self, tools: Sequence[Tool], prompt: Prompt, evidence: Evidence) -> tuple[Tool, float]:
        scores = [
            self.chooser.measure(evidence.request, describe_tool(tool, prompt.system_text), CLOSEST) for tool in tools
        ]
        best = max(range(len(tools)), key=lambda index: scores[index])
        return tools[best], scores[best]


def describe_tool(tool: Tool, instructions: str) -> str:
    """What a tool is for: its description, what its parameters are, and what the instructions say of it."""
    about = [sentence.replace(tool.name, "") for sentence in split_sentences(instructions) if tool.name in sentence]
    parameters = tool.parameters.get("properties", {})
    named = [f"{name.replace('_', ' ')}. {schema.get('description') or ''}" for name, schema in parameters.items()]
    return "\n".join([tool.description or tool.name.replace("_", " "), *about, *named])


def list_calls(prompt: Prompt) -> list[ToolCall]:
    """The calls made since the person's last plain message."""
    calls: list[ToolCall] = []
    for message in prompt.messages:
        if message.role == "user" and not isinstance(find_json(message.text), dict):
            calls = []
        calls.extend(message.tool_calls)
    return calls
