"""The person's choice of one among several candidates that a tool found.

The candidates are a snapshot: the tool takes them from a LangGraph task, so that the answer, which may come days later,
selects among what the person saw. Only an option id selects; a text never does (seeds/oria_tools.md,
request_clarification_tool).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage

from graph.oria.tools.clarification import clean, write_exchange
from graph.policy import QUESTION_OPTIONS
from oria_runtime.turns.models import Option, Question
from oria_runtime.turns.questions import ask

QUESTION_ID = "selection"


@dataclass(frozen=True)
class SelectionOption:
    """A candidate: its own id, which no client sees, and what tells it apart from the others."""

    id: str
    label: str


@dataclass(frozen=True)
class Selection:
    """The id of the chosen candidate, or None when the person skipped; and the exchange for the history."""

    id: str | None
    exchange: Sequence[AnyMessage]


def select_option(text: str, candidates: Sequence[SelectionOption]) -> Selection:
    """Pause until the person has chosen one of the first candidates; a skip chooses none."""
    offered = candidates[:QUESTION_OPTIONS]
    options = [Option(f"o{number}", clean(candidate.label)) for number, candidate in enumerate(offered, start=1)]
    question = Question(QUESTION_ID, text, "single_select", options)
    [answer] = answers = ask([question])
    chosen = None if answer.skip else next(iter(answer.option_ids or ()), None)
    by_option = {option.id: candidate.id for option, candidate in zip(options, offered, strict=True)}
    return Selection(by_option.get(chosen) if chosen else None, write_exchange([question], answers))
