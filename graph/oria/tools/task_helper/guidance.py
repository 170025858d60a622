"""The guidance for one task: what the model is told, and its text."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage

from graph.middleware.turns import find_turn_start
from graph.oria.language import name_language
from graph.oria.prompts import read_prompt
from graph.oria.records import list_records
from graph.oria.tools.get_document_content_tool import NAME as DOCUMENT_TOOL
from graph.oria.tools.task_helper.budget import choose_budget
from graph.oria.tools.task_helper.emoji_codes import write_emojis
from graph.oria.tools.training_finder.preparation import select_texts
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import TASK_CONTEXT_MESSAGES, TASK_SECONDS, TASK_TEMPERATURE, TASK_WORDS_PER_TOKEN
from oria_runtime.catalog.people import Profile
from oria_runtime.db.text import clean_text
from oria_runtime.models.client import deadline
from oria_runtime.models.errors import ModelMalformedError
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext

LABEL: Final = "task_helper.guidance"
GENERAL: Final = (
    "Nothing is known about the person or their situation beside this question: keep the guidance general, and say in "
    "half a sentence what they should adapt."
)


async def write_guidance(
    question: str, profile: Profile | None, messages: Sequence[AnyMessage], context: TurnContext
) -> str:
    """The guidance as Markdown. Raises ModelError."""
    known = gather_context(profile, messages) | gather_documents(messages, str(context.turn.id))
    budget = choose_budget(question)
    request: list[AnyMessage] = [
        write_rules(context, budget, is_general=not known),
        *([data_message("Context", known)] if known else []),
        HumanMessage(question),
    ]
    chat = context.models.chat("mini", LABEL, max_tokens=budget, temperature=TASK_TEMPERATURE)
    async with deadline(TASK_SECONDS):
        answer = await chat.ainvoke(request)
    text = write_emojis(clean_text(str(answer.text))).strip()
    if not text:
        raise ModelMalformedError("the guidance is empty")
    return text


def gather_context(profile: Profile | None, messages: Sequence[AnyMessage]) -> dict[str, Any]:
    """What is known beside the question: the person's work and the conversation; empty when there is neither."""
    person = profile.model_dump(include={"job_title", "department"}, exclude_none=True) if profile else {}
    texts = select_texts(messages)[-TASK_CONTEXT_MESSAGES:]
    # The last message of a conversation that has just begun is the question itself.
    conversation = list_records(texts) if len(texts) > 1 else []
    return {name: value for name, value in (("person", person), ("conversation", conversation)) if value}


def gather_documents(messages: Sequence[AnyMessage], turn_id: str) -> dict[str, Any]:
    """The documents that the agent has read for this task, whole."""
    current = messages[find_turn_start(messages, turn_id) :]
    read = [message.text for message in current if isinstance(message, ToolMessage) and message.name == DOCUMENT_TOOL]
    return {"documents": read} if read else {}


def write_rules(context: TurnContext, budget: int, *, is_general: bool) -> SystemMessage:
    """The instructions: the same for everybody first, then the tenant's and the request's."""
    config = context.tenant.config
    company = config.company_name or context.tenant.name
    lines = [
        f"You write as {config.bot_name}, the career assistant of {company}.",
        f"Write in {name_language(context.turn.locale)}.",
        f"Stay below {round(budget * TASK_WORDS_PER_TOKEN)} words and end with a whole sentence.",
        *([GENERAL] if is_general else []),
    ]
    request = "\n".join(["This request:", *(f"- {line}" for line in lines)])
    return write_prompt(f"{read_prompt('task_helper/guidance')}\n\n{untrusted_content_policy()}", request)
