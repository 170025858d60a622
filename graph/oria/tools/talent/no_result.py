"""The answer when nobody was found, written from the readable request alone: no candidate's data is near it."""

import logging
import re
from typing import Final

from langchain_core.messages import SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from graph.oria.language import name_language, pick_text
from graph.oria.prompts import read_prompt
from graph.oria.tools.clarification import clean
from graph.oria.tools.comparison import contains
from graph.oria.tools.rationales import LINK, NUMBER
from graph.oria.tools.talent.texts import MISSES
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import TALENT_MISS_CHARACTERS, TALENT_MISS_SECONDS
from oria_runtime.models.errors import ModelError
from oria_runtime.turns.context import TurnContext

logger = logging.getLogger(__name__)

LABEL: Final = "talent_finder.no_result"
# Two capitalised words in a row, or with particles between: what a name looks like in the languages of our texts.
NAME: Final = re.compile(r"\b[^\W\d_a-zß-öø-ÿ][\w'’-]+(?:\s+(?:de|del|la|van|von|der))*\s+[^\W\d_a-zß-öø-ÿ][\w'’-]+")


class NoResult(BaseModel):
    """The answer."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(description="Two or three short sentences to the person.")


async def write_no_result(query: str, context: TurnContext) -> str:
    """The generated answer, or the fixed one when the model fails or names what the request does not."""
    locale = context.turn.locale
    language = f"Write in {name_language(locale)}."
    system = SystemMessage("\n\n".join([read_prompt("talent/no_result"), untrusted_content_policy(), language]))
    try:
        written = await context.models.structured(
            label=LABEL,
            schema=NoResult,
            messages=[system, data_message("Search", {"request": query})],
            timeout=TALENT_MISS_SECONDS,
        )
    except ModelError as error:
        logger.warning("talent miss not phrased: fixed text", extra={"error": error.code})
        return pick_text(MISSES, locale)
    text = clean(written.text)
    return text if invents_nothing(text, query) else pick_text(MISSES, locale)


def invents_nothing(text: str, query: str) -> bool:
    """Whether the text is an answer without names, numbers and links that the request does not have."""
    names = [name for name in NAME.findall(text) if not contains(query, name)]
    numbers = set(NUMBER.findall(text)) - set(NUMBER.findall(query))
    return bool(text) and len(text) <= TALENT_MISS_CHARACTERS and not (names or numbers or LINK.search(text))
