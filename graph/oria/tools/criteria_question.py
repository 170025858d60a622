"""The pause of an empty search: which of its criteria to change, and to what (seeds/oria_tools.md).

Nothing is widened without the person: what the answer gives up is dropped, what it says is added, all else stays. The
search that came back empty belongs in a LangGraph task, because the tool starts again when the pause ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AnyMessage

from graph.oria.language import pick_text
from graph.oria.tools.clarification import clean, write_exchange
from graph.policy import QUESTION_OPTIONS
from oria_runtime.turns.models import Option, Question
from oria_runtime.turns.questions import ask

CRITERIA_ID: Final = "criteria"
CHANGE_ID: Final = "change"
Texts = Mapping[str, str]

NOTHING_MATCHES: Final[Texts] = {
    "en": "Nothing matches all of these criteria. Which of them may I drop?",
    "fr": "Rien ne correspond à tous ces critères. Lesquels puis-je abandonner ?",
    "es": "Nada cumple todos estos criterios. ¿Cuáles puedo abandonar?",
}
NOTHING_MORE: Final[Texts] = {
    "en": "There is nothing further that matches all of these criteria. Which of them may I drop?",
    "fr": "Il n'y a rien d'autre qui corresponde à tous ces critères. Lesquels puis-je abandonner ?",
    "es": "No hay nada más que cumpla todos estos criterios. ¿Cuáles puedo abandonar?",
}
WHAT_INSTEAD: Final[Texts] = {
    "en": "What should apply instead?",
    "fr": "Que faut-il chercher à la place ?",
    "es": "¿Qué debo buscar en su lugar?",
}
NOTHING_FOUND: Final[Texts] = {
    "en": "I found nothing for this. What should I look for instead?",
    "fr": "Je n'ai rien trouvé. Que dois-je chercher à la place ?",
    "es": "No he encontrado nada. ¿Qué debo buscar en su lugar?",
}


@dataclass(frozen=True)
class CriterionOption:
    """A criterion of the search: the tool's own id, which no client sees, and how the person knows it."""

    id: str
    label: str


@dataclass(frozen=True)
class CriteriaChange:
    """What the person answered: the criteria given up, by id, and what to look for instead (empty: nothing new).

    `skipped` means neither: the request ends there. `exchange` is for the history, after the tool's result.
    """

    changed: frozenset[str]
    text: str
    skipped: bool
    exchange: Sequence[AnyMessage]


def ask_criteria(criteria: Sequence[CriterionOption], locale: str, *, more: bool = False) -> CriteriaChange:
    """Pause until the person has said what to change about an empty search.

    Args:
        criteria: those the search used, at most as many as one selection shows; none leaves the open question alone.
        locale: the turn's.
        more: whether the search was for more of an earlier one.
    """
    offered = criteria[:QUESTION_OPTIONS]
    options = [Option(f"o{number}", clean(criterion.label)) for number, criterion in enumerate(offered, start=1)]
    questions = build_questions(options, locale, more=more)
    answers = ask(questions)
    given = {answer.question_id: answer for answer in answers if not answer.skip}
    by_option = {option.id: criterion.id for option, criterion in zip(options, offered, strict=True)}
    chosen = given[CRITERIA_ID].option_ids or () if CRITERIA_ID in given else ()
    changed = frozenset(by_option[option_id] for option_id in chosen if option_id in by_option)
    text = (given[CHANGE_ID].text or "").strip() if CHANGE_ID in given else ""
    return CriteriaChange(changed, text, not changed and not text, write_exchange(questions, answers))


def build_questions(options: Sequence[Option], locale: str, *, more: bool) -> list[Question]:
    """Two questions, because one answer is either options or a text; each can be skipped by itself."""
    if not options:
        return [Question(CHANGE_ID, pick_text(NOTHING_FOUND, locale))]
    text = pick_text(NOTHING_MORE if more else NOTHING_MATCHES, locale)
    return [
        Question(CRITERIA_ID, text, "multi_select", options),
        Question(CHANGE_ID, pick_text(WHAT_INSTEAD, locale)),
    ]
