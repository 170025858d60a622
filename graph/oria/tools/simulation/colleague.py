"""The real colleague behind the counterpart, when the person named one who can be found.

Only a found person gives an identity; a name that nobody answers to leaves a role (seeds/oria_tools.md,
suggest_simulation).
"""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from graph.oria.language import pick_text
from graph.oria.state import SelectedPerson
from graph.oria.tools.person_disambiguation_tool import find_candidates, pick_question
from graph.oria.tools.selection import SelectionOption, select_option
from graph.oria.tools.talent.person_candidates import (
    PersonCandidate,
    build_candidates,
    find_certain,
    label_candidate,
)
from oria_runtime.catalog.person_lookup import classify_fit, read_person
from oria_runtime.turns.context import TurnContext


async def find_colleagues(
    name: str | None, selected: SelectedPerson | None, context: TurnContext
) -> list[PersonCandidate]:
    """Who may be meant: nobody without a name; the confirmed person alone when the name is theirs; else the matches."""
    if name is None or not name.strip():
        return []
    if selected is not None and classify_fit(name, selected["name"], "") != "similar":
        async with context.database.transaction() as connection:
            confirmed = await read_person(connection, selected["id"], excluded=context.turn.user_id)
        if confirmed is not None:
            return build_candidates([confirmed])
    return await find_candidates(name, context)


def choose_colleague(
    candidates: Sequence[PersonCandidate], context: TurnContext
) -> tuple[PersonCandidate | None, Sequence[AnyMessage]]:
    """The colleague, and the exchange if the person was asked. Pauses the turn when it is not certain who is meant.

    A skip leaves the role without an identity, and so does an uncertain name where nobody can be asked.
    """
    if certain := find_certain(candidates):
        return certain, []
    if not candidates or not context.turn.interactions:
        return None, []
    options = [SelectionOption(candidate["id"], label_candidate(candidate)) for candidate in candidates]
    selection = select_option(pick_text(pick_question(candidates), context.turn.locale), options)
    chosen = next((candidate for candidate in candidates if candidate["id"] == selection.id), None)
    return chosen, selection.exchange
