"""Shows trainings whose ids are known already, in the caller's order."""

from collections.abc import Mapping, Sequence
from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.language import pick_text
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.training_cards import build_artifact, build_card, write_lines
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.trainings import read_trainings
from oria_runtime.turns.context import TurnContext

NAME: Final = "get_trainings_tool"
NO_IDS: Final = "Error: no training id was given."
NOT_FOUND: Final = "None of these trainings is in the catalogue."
FAILURE: Final = "Error: the trainings could not be read."
TITLES: Final[Mapping[str, str]] = {"en": "Trainings", "fr": "Formations", "es": "Formaciones"}


class KnownTrainings(BaseModel):
    """Arguments of the tool."""

    training_ids: list[str] = Field(description="Exact ids, copied from a tool result, in the order of display.")
    title: str = Field("", description="Title of the card, in the person's language.")
    subtitle: str = Field("", description="Subtitle of the card, in the person's language.")


def build_trainings_tool() -> BaseTool:
    """The tool; its result is shown to the person directly."""

    @declare_tool(NAME, KnownTrainings)
    async def get_trainings(
        runtime: ToolRuntime[TurnContext], training_ids: list[str], title: str = "", subtitle: str = ""
    ) -> ToolResult:
        """Display entries whose exact ids a tool result has listed, such as bookmarks or mandatory ones.

        Without ids there is nothing to display: never invent one.
        """
        call_id = runtime.tool_call_id or ""
        work = show_trainings(runtime.context, training_ids, title=title, subtitle=subtitle, call_id=call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return get_trainings


async def show_trainings(
    context: TurnContext, training_ids: Sequence[str], *, title: str, subtitle: str, call_id: str
) -> ToolResult:
    """The card of the trainings that exist; missing ids are skipped."""
    if not training_ids:
        return fail(NAME, call_id, NO_IDS)
    async with context.database.transaction() as connection:
        trainings = await read_trainings(connection, training_ids)
    if not trainings:
        return ToolMessage(NOT_FOUND, name=NAME, tool_call_id=call_id)
    card_title = title.strip() or pick_text(TITLES, context.turn.locale)
    card = build_card(trainings, title=card_title, subtitle=subtitle.strip())
    message = ToolMessage(
        encode_data({"shown": [training.title for training in trainings]}),
        name=NAME,
        tool_call_id=call_id,
        artifact=build_artifact(trainings),
    )
    return deliver(message, text=f"{card_title}\n{write_lines(trainings)}", cards=[card])
