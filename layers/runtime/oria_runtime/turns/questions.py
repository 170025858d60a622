"""Asking the person from inside a graph: the only way to pause a turn."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from langgraph.types import interrupt

from oria_runtime.turns.models import Answer, Question


def ask(questions: Sequence[Question]) -> list[Answer]:
    """Pause the turn with these questions; returns the answers in the questions' order once they are there.

    The public id of the interaction travels inside the interrupt's value: the runner compares it before it resumes,
    because LangGraph gives a stale answer to whatever is pending.
    """
    value = {"interaction_id": str(uuid4()), "questions": [question.as_json() for question in questions]}
    return read_answers(questions, interrupt(value))


def read_answers(questions: Sequence[Question], response: Mapping[str, Any]) -> list[Answer]:
    """Answers of a stored response, in the order of the questions."""
    given = {answer["question_id"]: answer for answer in response["answers"]}
    return [
        Answer(
            question_id=question.id,
            text=given[question.id].get("text"),
            option_ids=given[question.id].get("option_ids"),
            skip=given[question.id].get("skip", False),
        )
        for question in questions
    ]
