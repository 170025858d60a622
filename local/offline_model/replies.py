"""What the offline model says: copied from tool results and the conversation, framed by a few phrases of its own."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from local.offline_model.choices import Chooser
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence, find_json, list_said, list_strings, list_tool_results
from local.offline_model.phrases import ABILITY_CLOSE, ABILITY_QUESTIONS, TEXTS, Language
from local.offline_model.schema_fields import humanize
from local.offline_model.sentences import describe, split_sentences, unique
from local.offline_model.wire.answers import CHARACTERS_PER_TOKEN
from local.offline_model.wire.prompts import Prompt

LINES = 6
LINE_LENGTH = 160
COMPARED = 200
SUMMARY_LINES = 12
RELATED = 0.45
# A result of an earlier turn that is about the same thing; a line of it holds less than a sentence.
ABOUT = 0.3
# What instructions can ask for besides an answer, and how they word it.
ACTS: Mapping[str, Sequence[str]] = {
    "refusal": ("say that you cannot help with this", "refuse the request politely", "decline"),
    "clarify": ("ask one short clarifying question", "ask what the person means"),
    "summary": (
        "write a summary of the conversation",
        "summarise the older messages",
        "merge into the previous summary",
    ),
    "play": ("you are an actor in a role-play", "you play the other person in a conversation"),
}
ACT_CLOSE = 0.5
# Acts that are a prompt's whole purpose, not one case of its rules.
UNDECLARED = frozenset(["summary", "play"])
# By the status of a look-up.
FAILURES: Mapping[str, str] = {"miss": "missed", "unavailable": "unavailable"}
DECLARED = re.compile(r"\bThe [\w ]{1,20} is `([\w-]+)`")
IDENTIFIER = re.compile(r"^(?:[0-9a-f]{8}-[0-9a-f-]{27}|(?:\S*_)?(?:ids?|codes?))$", re.IGNORECASE)
ADDRESS = re.compile(r"\byou (?:are|help|talk|work|find|answer|write|support|advise)\b\s*", re.IGNORECASE)


class Speaker:
    """Writes plain text answers."""

    def __init__(self, embedder: Embedder, chooser: Chooser) -> None:
        self._embedder = embedder
        self._chooser = chooser

    def reply(self, prompt: Prompt, evidence: Evidence, language: Language) -> str:
        """An answer within the prompt's output budget."""
        text = self._compose(prompt, evidence, language)
        return cut(text, prompt.max_tokens)

    def _compose(self, prompt: Prompt, evidence: Evidence, language: Language) -> str:
        results = list_tool_results(prompt)
        if results:
            failed = find_failure(results[-1].text)
            return (
                TEXTS[failed][language]
                if failed
                else self._report([result.text for result in results], evidence, language)
            )
        act = self._find_act(prompt.system_text)
        if act == "summary":
            return summarize(evidence)
        if act is not None:
            return TEXTS[act][language].format(text=shorten(evidence.latest))
        greeting = self._chooser.find_greeting(evidence.latest) if evidence.latest.strip() else "greeting"
        if greeting is not None:
            return TEXTS[greeting][language]
        purpose = find_purpose(prompt.system_text)
        if purpose and self._embedder.closest(split_sentences(evidence.latest), ABILITY_QUESTIONS) >= ABILITY_CLOSE:
            return TEXTS["ability"][language].format(topic=purpose)
        return self._recall(prompt, evidence, language)

    def _find_act(self, instructions: str) -> str | None:
        """The act that the instructions ask for. Where they hold rules by case, the one of the declared case counts."""
        declared = DECLARED.findall(instructions)
        sentences = split_sentences(instructions)
        if declared:
            sentences = find_rule(instructions, declared[-1]) or sentences
        closest = {act: self._embedder.closest(sentences, wordings) for act, wordings in ACTS.items()}
        best = max(closest, key=lambda act: closest[act])
        return best if closest[best] >= ACT_CLOSE and (declared or best in UNDECLARED) else None

    def _report(self, results: Sequence[str], evidence: Evidence, language: Language) -> str:
        """The lines of tool results that are closest to the request, in their own order."""
        lines = unique(line for result in results for line in list_lines(result))[:COMPARED]
        if not lines:
            return TEXTS["nothing"][language]
        scores = self._embedder.similarities([shorten(evidence.request)], lines)[0]
        best = sorted(sorted(range(len(lines)), key=lambda index: -float(scores[index]))[:LINES])
        return "\n".join([TEXTS["found"][language], *(f"- {lines[index]}" for index in best)])

    def _recall(self, prompt: Prompt, evidence: Evidence, language: Language) -> str:
        """What was said before about the same thing, else an honest echo."""
        said = [
            sentence
            for message in prompt.messages[:-1]
            if message.role == "assistant"
            for sentence in split_sentences(message.text)
        ]
        scores = self._embedder.similarities([evidence.latest], said)[0] if said else []
        related = [said[index] for index in range(len(said)) if scores[index] >= RELATED]
        if related:
            return " ".join(unique(related)[:2])
        shown = [message.text for message in prompt.messages if message.role == "tool"]
        if shown and self._embedder.closest([evidence.latest], list_lines(shown[-1])[:COMPARED]) >= ABOUT:
            return self._report(shown[-1:], evidence, language)
        return TEXTS["heard"][language].format(text=shorten(evidence.latest))


def find_failure(result: str) -> str | None:
    """Which text says that a result has nothing but the status of a look-up without success; None for any other."""
    found = find_json(result)
    if not isinstance(found, Mapping) or any(isinstance(value, Mapping | list) and value for value in found.values()):
        return None
    return FAILURES.get(str(found.get("status")))


def find_purpose(instructions: str) -> str:
    """What the first sentence that addresses the assistant says it does: its list, or the sentence without "you"."""
    addressed = (sentence for sentence in split_sentences(" ".join(instructions.split())) if ADDRESS.search(sentence))
    sentence = next(addressed, "")
    _, _, listed = sentence.partition(": ")
    return (listed or ADDRESS.split(sentence)[-1]).strip(" .")


def find_rule(instructions: str, case: str) -> list[str]:
    """The sentences of the paragraphs that are about a case named in backticks, except where it is declared."""
    paragraphs = re.split(r"\n(?=[-*#]\s)|\n\n", instructions)
    about = [text for text in paragraphs if f"`{case}`" in text and not DECLARED.search(text)]
    return [piece for text in about for piece in describe(" ".join(text.split()))]


def list_lines(result: str) -> list[str]:
    """A tool result as short lines: JSON by its fields, text by its sentences."""
    found = find_json(result)
    if found is None:
        return [shorten(sentence) for sentence in split_sentences(result)]
    return [shorten(line) for line in walk_lines(found, "")]


def walk_lines(value: Any, path: str) -> Iterator[str]:
    """`field: value` lines; a record is one line; identifiers are left out."""
    if isinstance(value, Mapping):
        flat = {key: inner for key, inner in value.items() if is_shown(key, inner)}
        if flat:
            yield "; ".join(f"{humanize(key)}: {render(inner)}" for key, inner in flat.items())
        for key, inner in value.items():
            if isinstance(inner, Mapping | list) and key not in flat:
                yield from walk_lines(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from walk_lines(inner, path)
    elif isinstance(value, str) and value.strip():
        yield f"{humanize(path)}: {value}" if path else value


def is_shown(key: str, value: Any) -> bool:
    """Whether a field is shown on its record's line: plain values and short lists of words."""
    if IDENTIFIER.match(key) or value in (None, "", [], {}):
        return False
    plain = isinstance(value, str | int | float) and not IDENTIFIER.match(str(value))
    return plain or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def render(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def summarize(evidence: Evidence) -> str:
    """The previous summary and the person's texts, shortened."""
    previous = [value for key, value in evidence.data.items() if "summary" in key and isinstance(value, str)]
    said = [shorten(text) for text in unique([*list_said(evidence.data), *evidence.earlier])]
    lines = [*split_sentences(" ".join(previous)), *said]
    return "\n".join(f"- {line}" for line in lines[-SUMMARY_LINES:]) or json.dumps(
        list(list_strings(evidence.data))[:3]
    )


def shorten(text: str) -> str:
    """The text on one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 1]}…"


def cut(text: str, max_tokens: int | None) -> str:
    """The text within an output budget, cut between lines."""
    limit = (max_tokens or 1_000_000) * CHARACTERS_PER_TOKEN
    while len(text) > limit and "\n" in text:
        text = text.rpartition("\n")[0]
    return text[:limit]
