"""Questions of an interaction as models write them, and the exchange as it stands in history afterwards.

The backend assigns the ids of questions and options: a model that wrote them could repeat one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field

from graph.middleware.tool_boundary import ToolResult
from graph.oria.window import answers_message
from graph.policy import QUESTION_CHARACTERS, QUESTION_OPTIONS
from oria_runtime.turns.models import Answer, InputType, Option, Question

SKIPPED = "[skipped]"
# The ids of option answers; a selection of one option is a statement, not a choice.
MIN_OPTIONS = 2


class WrittenQuestion(BaseModel):
    """One question for the person."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(description="The question, in the person's language, about one thing only.")
    input_type: Literal["text", "single_select", "multi_select"] = Field(
        description="`text`: open answer. `single_select`: a closed target. `multi_select`: compatible topics."
    )
    options: list[str] = Field(description="Labels to select from, grounded in what is known; empty for `text`.")
    allow_free_text: bool = Field(description="Whether an answer in the person's own words is possible too.")


def build_question(question_id: str, written: WrittenQuestion) -> Question | None:
    """The question with ids, or None when it has no text. A selection without a choice becomes an open question."""
    text = clean(written.text)
    if not text:
        return None
    labels = list(dict.fromkeys(label for option in written.options if (label := clean(option))))[:QUESTION_OPTIONS]
    if written.input_type == "text" or len(labels) < MIN_OPTIONS:
        return Question(id=question_id, text=text)
    input_type: InputType = written.input_type
    options = [Option(id=f"o{number}", label=label) for number, label in enumerate(labels, start=1)]
    return Question(question_id, text, input_type, options, allow_free_text=written.allow_free_text)


def read_question(value: Mapping[str, Any]) -> Question:
    """A question from its JSON, as it was cached over a pause."""
    options = [Option(**option) for option in value["options"]]
    return Question(**{**value, "options": options})


def attach_exchange(result: ToolResult, exchange: Sequence[AnyMessage]) -> ToolResult:
    """The result of a tool that paused, with the exchange after it; also when the work after the pause failed."""
    if not exchange:
        return result
    update = {"messages": [result]} if isinstance(result, ToolMessage) else dict(result.update or {})
    return Command(update=update | {"messages": [*update["messages"], *exchange]})


def clean(text: str) -> str:
    """One line, bounded, without the NUL that Postgres cannot store."""
    return " ".join(text.replace("\x00", "").split())[:QUESTION_CHARACTERS]


def read_answer(question: Question, answer: Answer) -> str:
    """The answer as words: labels of the chosen options and the free text; empty when it was skipped."""
    if answer.skip:
        return ""
    labels = {option.id: option.label for option in question.options}
    chosen = [labels[option_id] for option_id in answer.option_ids or () if option_id in labels]
    return "; ".join([*chosen, *([answer.text.strip()] if answer.text and answer.text.strip() else [])])


def write_exchange(questions: Sequence[Question], answers: Sequence[Answer]) -> list[AnyMessage]:
    """Questions and answers as provider-neutral messages, to follow the resolved call/result pair."""
    replies = [
        f"- {question.text} {read_answer(question, answer) or SKIPPED}"
        for question, answer in zip(questions, answers, strict=True)
    ]
    return [AIMessage(list_texts(questions)), answers_message("\n".join(replies))]


def list_texts(questions: Iterable[Question]) -> str:
    """The questions as a list of their texts."""
    return "\n".join(f"- {question.text}" for question in questions)
