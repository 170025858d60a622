"""Picking a tool by its description, or none.

A tool is recognised by its own description and by the instructions' sentences that name it. It is called at most once
with the same arguments between two messages of the person.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from local.offline_model.choices import CLOSEST, Chooser
from local.offline_model.evidence import Evidence, list_turn
from local.offline_model.lookups import looks_up
from local.offline_model.names import CODES_FIELD, ID_FIELD, find_codes, find_id
from local.offline_model.phrases import ABOUT_MORE, asks_more
from local.offline_model.sentences import list_words, split_sentences
from local.offline_model.wire.answers import call_tool
from local.offline_model.wire.prompts import Prompt, Tool, ToolCall

# The mean of the three closest clauses from which one tool is worth a call. The best of many is close by chance.
USEFUL = 0.08
USEFUL_EACH = 0.021
# A question that is to be looked up goes to the tool for that, unless another one is as close as this.
CLOSE = 0.4
# Rules for answering without a call. Prompts are wrapped: a line may end within a sentence.
WITHOUT_TOOL = re.compile(
    r"\b(?:no tool|without (?:the|a|any) (?:tool|new search)|answer from the conversation)\b", re.I
)
WRAPPED = re.compile(r"(?<![.!?:])\n(?![-*#\n])")


@dataclass(frozen=True)
class ToolPicker:
    """Picks the call to make next. `fill` makes arguments for a tool's parameters, `lacks` says that it cannot, `asks`
    whether a message asks for what a tool looks up (lookups.py)."""

    chooser: Chooser
    fill: Callable[[Tool], dict[str, Any]]
    lacks: Callable[[Tool], bool]
    asks: Callable[[str], bool]

    def pick(self, prompt: Prompt, evidence: Evidence) -> ToolCall | None:
        """A call, or None to answer. Honours `tool_choice`: none, required, or a tool's name."""
        if not prompt.tools or prompt.tool_choice == "none":
            return None
        forced = prompt.tool_choice not in {None, "auto"}
        named = [tool for tool in prompt.tools if tool.name == prompt.tool_choice]
        made = list_calls(prompt)
        if not forced and self.chooser.is_greeting(evidence.latest):
            return None
        named = named or find_continued(prompt, evidence)
        forced = forced or bool(named)
        candidates = named if forced and named else [tool for tool in prompt.tools if forced or not self.lacks(tool)]
        if made and not forced:
            candidates = [tool for tool in candidates if goes_on(tool, made, prompt, evidence)]
        if not candidates:
            return None
        tool = self._choose(candidates, prompt, evidence, forced=forced)
        if tool is None:
            return None
        arguments = self.fill(tool)
        repeated = any(call.name == tool.name and call.read_arguments() == arguments for call in made)
        return None if repeated else call_tool(tool.name, json.dumps(arguments, ensure_ascii=False))

    def _choose(self, candidates: Sequence[Tool], prompt: Prompt, evidence: Evidence, *, forced: bool) -> Tool | None:
        """The closest tool, when it is close enough or one is forced; a tool that looks things up is recognised by the
        form of the question instead."""
        lookups = [] if forced else [tool for tool in candidates if looks_up(tool.description)]
        others = [tool for tool in candidates if tool not in lookups]
        tool, score = self._find_best(others, prompt, evidence) if others else (None, 0.0)
        if lookups and score < CLOSE and self.asks(evidence.request):
            return lookups[0]
        unfit = score < USEFUL + USEFUL_EACH * len(prompt.tools) or self._is_answered(score, prompt, evidence)
        return tool if forced or not unfit else None

    def _is_answered(self, score: float, prompt: Prompt, evidence: Evidence) -> bool:
        """Whether the instructions' rules for calling no tool are closer, and there is a result to answer from."""
        if not any(message.role == "tool" for message in prompt.messages) or asks_more(evidence.latest):
            return False
        sentences = split_sentences(WRAPPED.sub(" ", prompt.system_text))
        rules = "\n".join(sentence for sentence in sentences if WITHOUT_TOOL.search(sentence))
        return self.chooser.measure(evidence.latest, rules, 1) > score

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
    """The calls made in this turn."""
    return [call for message in list_turn(prompt) for call in message.tool_calls]


def find_continued(prompt: Prompt, evidence: Evidence) -> list[Tool]:
    """The tool that was called last, if it has a switch for more and the person, in a new turn, asks for more."""
    if list_calls(prompt) or not asks_more(evidence.latest):
        return []
    called = [call.name for message in prompt.messages for call in message.tool_calls]
    return [
        tool
        for tool in prompt.tools
        if called and tool.name == called[-1] and any(map(ABOUT_MORE.search, tool.parameters.get("properties", {})))
    ]


def goes_on(tool: Tool, made: Sequence[ToolCall], prompt: Prompt, evidence: Evidence) -> bool:
    """Whether a tool that was not called yet goes on from the last result: it wants an identifier that a result has, or
    the instructions name it for what the result reports as its status."""
    if any(call.name == tool.name for call in made):
        return False
    wanted = [name for name in tool.parameters.get("required", ()) if ID_FIELD.search(name)]
    coded = [name for name in tool.parameters.get("required", ()) if CODES_FIELD.search(name)]
    if any(find_id(name, evidence.results) for name in wanted) or any(
        find_codes(name, evidence.results) for name in coded
    ):
        return True
    _, last = evidence.results[-1] if evidence.results else ("", None)
    status = last.get("status") if isinstance(last, dict) else None
    return isinstance(status, str) and any(
        f" {status.casefold()} " in f" {' '.join(list_words(sentence))} "
        for sentence in split_sentences(" ".join(prompt.system_text.split()))
        if tool.name in sentence
    )
