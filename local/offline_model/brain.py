"""The offline model behind the wire: embeddings of its own, everything else by similarity and extraction."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from local.offline_model.asking import QuestionSpace
from local.offline_model.choices import Chooser
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence, read_prompt_evidence, read_text_evidence
from local.offline_model.filling import Filler
from local.offline_model.lookups import Lookups
from local.offline_model.phrases import Language, detect_language, read_asked_language
from local.offline_model.replies import Speaker
from local.offline_model.tools import ToolPicker
from local.offline_model.wire.answers import Answer
from local.offline_model.wire.decisions import DecisionRequest, Question, render_choice, render_predicate
from local.offline_model.wire.prompts import Prompt, Tool, ToolCall


class OfflineBrain:
    """Answers prompts and decisions. The work runs in threads, because it computes."""

    def __init__(self) -> None:
        self._embedder = Embedder()
        self._chooser = Chooser(self._embedder)
        self._space = QuestionSpace(self._embedder)
        self._lookups = Lookups(self._embedder)
        self._speaker = Speaker(self._embedder, self._chooser)

    def load(self) -> None:
        """Load the encoder now instead of at the first request."""
        self._embedder.embed(["ready"])

    async def answer(self, prompt: Prompt) -> Answer:
        """A tool call, an instance of the prompt's schema, or a text."""
        return await asyncio.to_thread(self._answer, prompt)

    async def decide(self, request: DecisionRequest) -> Sequence[Mapping[str, Any]]:
        """The answer to each question."""
        return await asyncio.to_thread(self._decide, request)

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Vectors of 512 numbers and length one, questions nearer to what answers them."""
        vectors = await asyncio.to_thread(self._space.embed, texts)
        return [[float(number) for number in vector] for vector in vectors]

    def _answer(self, prompt: Prompt) -> Answer:
        evidence = read_prompt_evidence(prompt)
        language = pick_language(prompt, evidence)
        filler = Filler(
            self._embedder,
            self._chooser,
            evidence,
            language,
            instructions=prompt.system_text,
            eager=prompt.schema is None,
        )
        if prompt.schema is not None:
            return Answer(json.dumps(filler.fill(prompt.schema), ensure_ascii=False))
        call = self._pick_call(filler, prompt, evidence)
        if call is not None:
            return Answer(tool_calls=[call])
        return Answer(self._speaker.reply(prompt, evidence, language))

    def _pick_call(self, filler: Filler, prompt: Prompt, evidence: Evidence) -> ToolCall | None:
        def fill(tool: Tool) -> dict[str, Any]:
            return dict(filler.fill(complete(tool)))

        def lacks(tool: Tool) -> bool:
            return filler.lacks(complete(tool))

        return ToolPicker(self._chooser, fill, lacks, self._lookups.asks).pick(prompt, evidence)

    def _decide(self, request: DecisionRequest) -> list[dict[str, Any]]:
        evidence = read_text_evidence(request.text)
        return [self._judge(question, evidence) for question in request.questions]

    def _judge(self, question: Question, evidence: Evidence) -> dict[str, Any]:
        if question.type == "predicate":
            return render_predicate(question, self._chooser.affirm(evidence, question.instructions))
        return render_choice(question, self._chooser.weigh(evidence, question.options, question.instructions))


def complete(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments with the parts that a tool without parameters leaves out."""
    return {"type": "object", "properties": {}, "required": [], **tool.parameters}


def pick_language(prompt: Prompt, evidence: Evidence) -> Language:
    """The language that the instructions or the data ask for, else the person's."""
    declared = next((str(evidence.data[key])[:2] for key in ("language", "locale") if evidence.data.get(key)), None)
    known = declared if declared in {"en", "fr", "es"} else None
    return read_asked_language(prompt.system_text) or known or detect_language(evidence.latest)
