"""`/v1/decisions`: typed questions in, answers with distributions out (langchain-openai 1.7, `decisions/`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from local.offline_model.wire.answers import approximate_tokens
from local.offline_model.wire.prompts import read_text

Value = str | bool


@dataclass(frozen=True)
class Question:
    """A question. `options` maps a choice's values, or a score's level numbers, to what they mean."""

    type: Literal["choice", "predicate", "score"]
    name: str
    instructions: str
    options: Mapping[Value | int, str]


@dataclass(frozen=True)
class DecisionRequest:
    """All questions over one input text."""

    model: str
    text: str
    questions: Sequence[Question]


def read_decision_request(body: Mapping[str, Any]) -> DecisionRequest:
    """The request of a body."""
    entries = body["input"]
    text = entries if isinstance(entries, str) else "\n".join(read_text(item["content"]) for item in entries)
    return DecisionRequest(body["model"], text, [read_question(question) for question in body["questions"]])


def read_question(question: Mapping[str, Any]) -> Question:
    options: dict[Value | int, str] = {
        choice["value"]: choice.get("description") or str(choice["value"]) for choice in question.get("choices") or ()
    }
    for number, level in enumerate(question.get("levels") or ()):
        options[number] = f"{level['label']}. {level.get('description') or ''}".strip()
    return Question(question["type"], question["name"], question["instructions"], options)


def render_decisions(request: DecisionRequest, answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The body for a list of rendered answers."""
    return {
        "object": "decision",
        "model": request.model,
        "answers": list(answers),
        "usage": {
            "input_tokens": approximate_tokens(len(request.text) + sum(map(count_characters, request.questions))),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": len(answers),
        },
    }


def count_characters(question: Question) -> int:
    """The length of what a question says."""
    return len(question.instructions) + sum(len(f"{value}{text}") for value, text in question.options.items())


def render_predicate(question: Question, probability: float) -> dict[str, Any]:
    return {"type": "predicate", "name": question.name, "probability": probability}


def render_choice(question: Question, distribution: Mapping[Value | int, float]) -> dict[str, Any]:
    """The likeliest value of a distribution; a score's answer is the mean of its levels instead."""
    shares: list[dict[str, Any]] = [{"value": value, "probability": share} for value, share in distribution.items()]
    confidence = max(distribution.values())
    if question.type == "score":
        labelled = [{**share, "label": question.options[share["value"]]} for share in shares]
        mean = sum(int(value) * share for value, share in distribution.items())
        return {
            "type": "score",
            "name": question.name,
            "score": mean,
            "probabilities": labelled,
            "confidence": confidence,
        }
    chosen = max(distribution, key=lambda value: distribution[value])
    return {
        "type": "choice",
        "name": question.name,
        "choice": chosen,
        "probabilities": shares,
        "confidence": confidence,
    }
