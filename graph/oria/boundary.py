"""The text that ends a turn which the gate does not let through."""

from collections.abc import Mapping
from typing import Literal

from langchain_core.messages import SystemMessage

from graph.oria.language import name_language, pick_text
from graph.oria.prompts import read_prompt
from graph.oria.transcript import Evidence
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import BOUNDARY_OUTPUT_TOKENS
from oria_runtime.models.client import Models

RESPONSE_LABEL = "langgraph.guardrails_response"

STATIC_TEXTS: Mapping[str, Mapping[str, str]] = {
    "doubt": {
        "en": "I am not sure what you would like me to do. Could you tell me how this relates to your work?",
        "fr": "Je ne suis pas sûre de comprendre votre demande. Quel est le lien avec votre travail ?",
        "es": "No tengo claro qué necesita. ¿Podría decirme qué relación tiene con su trabajo?",
    },
    "block": {
        "en": "I cannot help with this. I can help with your career, your skills or a training, if you like.",
        "fr": "Je ne peux pas vous aider sur ce point. Parlons plutôt de votre carrière ou d'une formation.",
        "es": "No puedo ayudarle con esto. Sí puedo ayudarle con su carrera, sus competencias o una formación.",
    },
}


async def write_boundary(decision: Literal["doubt", "block"], evidence: Evidence, locale: str, models: Models) -> str:
    """A clarification question for doubt, a refusal with a next step for block, in the turn's language.

    One generation without tools that cannot change the decision. Only an empty answer is replaced by the static text;
    failures raise ModelError.
    """
    chat = models.chat("mini", RESPONSE_LABEL, max_tokens=BOUNDARY_OUTPUT_TOKENS)
    instructions = "\n\n".join(
        (
            read_prompt("guardrail_response"),
            untrusted_content_policy(),
            f"The decision is `{decision}`. Write in {name_language(locale)}.",
        )
    )
    answer = await chat.ainvoke([SystemMessage(instructions), data_message("Conversation", evidence.as_json())])
    return answer.text.strip() or pick_text(STATIC_TEXTS[decision], locale)
