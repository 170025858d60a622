"""Asks the person structured questions and pauses the turn until they answer: the shared tool of all specialists."""

from collections.abc import Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.tools.clarification import (
    WrittenQuestion,
    attach_exchange,
    build_question,
    clean,
    read_answer,
    write_exchange,
)
from graph.oria.tools.declaration import declare_tool
from graph.oria.untrusted import encode_data
from graph.policy import CLARIFICATION_QUESTIONS
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Answer, Question
from oria_runtime.turns.questions import ask

NAME: Final = "request_clarification_tool"
# On the result message: what was skipped must not be asked again, also when the artifact's time is over.
SKIPPED_KEY: Final = "skipped_questions"
NO_QUESTION: Final = "Error: no usable question was given."
ALREADY_SKIPPED: Final = "The person has skipped these questions already. Do not ask again; proceed with what is known."
FAILURE: Final = "Error: the questions could not be asked. Proceed with what is known."


class ClarificationRequest(BaseModel):
    """Arguments of the tool."""

    questions: list[WrittenQuestion] = Field(
        min_length=1, max_length=CLARIFICATION_QUESTIONS, description="All that is indispensable, at once."
    )


def build_clarification_tool() -> BaseTool:
    """The tool, for interactive requests only."""

    @declare_tool(NAME, ClarificationRequest)
    async def request_clarification(runtime: ToolRuntime[TurnContext], questions: list[WrittenQuestion]) -> ToolResult:
        """Ask the person for information without which the request cannot be served, and wait for the answers.

        Only for gaps that block the work. Reuse what the conversation already says and group all indispensable
        questions in one call. Do not ask for optional preferences such as tone, format, duration or personalization,
        and do not use it for coaching questions, role play or closing invitations. Call it alone.
        """
        call_id = runtime.tool_call_id or ""
        work = ask_person(questions, runtime.state["messages"], call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return request_clarification


async def ask_person(written: Sequence[WrittenQuestion], messages: Sequence[AnyMessage], call_id: str) -> ToolResult:
    """Pause with the questions that were not skipped before; after the answers, the resolved pair and the exchange."""
    built = [build_question(f"q{number}", question) for number, question in enumerate(written, start=1)]
    usable = [question for question in built if question is not None]
    if not usable:
        return fail(NAME, call_id, NO_QUESTION)
    skipped = list_skipped(messages)
    open_questions = [question for question in usable if normalize(question.text) not in skipped]
    if not open_questions:
        return ToolMessage(ALREADY_SKIPPED, name=NAME, tool_call_id=call_id)
    answers = ask(open_questions)
    result = ToolMessage(
        encode_data(write_result(open_questions, answers)),
        name=NAME,
        tool_call_id=call_id,
        additional_kwargs={
            SKIPPED_KEY: [q.text for q, answer in zip(open_questions, answers, strict=True) if answer.skip]
        },
    )
    return attach_exchange(result, write_exchange(open_questions, answers))


def write_result(questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, Any]:
    """What the model reads as the tool's result."""
    pairs = list(zip(questions, answers, strict=True))
    return {
        "answers": [
            {"question": question.text, "answer": read_answer(question, answer)}
            for question, answer in pairs
            if not answer.skip
        ],
        "skipped": [question.text for question, answer in pairs if answer.skip],
    }


def list_skipped(messages: Sequence[AnyMessage]) -> set[str]:
    """The questions that the person skipped earlier in this conversation."""
    texts = [message.additional_kwargs.get(SKIPPED_KEY, ()) for message in messages if isinstance(message, ToolMessage)]
    return {normalize(text) for skipped in texts for text in skipped}


def normalize(text: str) -> str:
    return clean(text).casefold().rstrip("?!. ")
