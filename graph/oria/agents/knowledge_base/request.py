"""What a research is told of the conversation: data, never instructions.

What the person wrote says what is looked for. Earlier answers only help to understand it: they are no evidence.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from graph.oria.records import list_records
from graph.oria.tools.training_finder.preparation import select_texts
from graph.oria.untrusted import data_message
from graph.oria.window import starts_turn
from graph.policy import KNOWLEDGE_CONVERSATION_MESSAGES, KNOWLEDGE_MESSAGE_CHARACTERS
from oria_runtime.turns.context import TurnContext

TITLE = "Request"


def write_request(messages: Sequence[AnyMessage], context: TurnContext) -> HumanMessage:
    """The latest message, what was said before it and since, and whose knowledge is searched."""
    texts = select_texts(messages)
    start = max((index for index, message in enumerate(texts) if starts_turn(message)), default=0)
    others = [*texts[:start], *texts[start + 1 :]]
    request: dict[str, Any] = {
        "latest_user_message": read_question(context),
        "recent_conversation": [
            {"role": record["role"], "content": record["content"]}
            for record in list_records(cut_texts(others[-KNOWLEDGE_CONVERSATION_MESSAGES:]))
        ],
        "company": context.tenant.config.company_name or context.tenant.name,
    }
    return data_message(TITLE, request)


def read_question(context: TurnContext) -> str:
    """The person's message of this turn."""
    return context.turn.message[:KNOWLEDGE_MESSAGE_CHARACTERS]


def cut_texts(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The messages, each within the bound of the question's own."""
    return [message.model_copy(update={"content": message.text[:KNOWLEDGE_MESSAGE_CHARACTERS]}) for message in messages]
