"""Which trainings a search must not return: those shown before, when more is asked for, and those named."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from graph.oria.tools.shown import list_shown
from graph.oria.tools.training_cards import IDS_KEY
from oria_runtime.catalog.trainings import expand_related
from oria_runtime.db.pool import Connection


async def list_excluded(
    connection: Connection, messages: Sequence[AnyMessage], *, show_more: bool, named: Sequence[str]
) -> set[str]:
    """The ids to exclude, with their parents and children. A new search repeats what fits; only show-more does not."""
    ids = [*(list_shown(messages, IDS_KEY) if show_more else ()), *named]
    return set(await expand_related(connection, ids)) if ids else set()
