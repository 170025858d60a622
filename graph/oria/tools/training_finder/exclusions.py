"""Which trainings a search must not return: those shown before, when more is asked for, and those named."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, ToolMessage

from graph.oria.tools.training_cards import IDS_KEY
from graph.policy import ARTIFACT_MESSAGES
from oria_runtime.catalog.trainings import expand_related
from oria_runtime.db.pool import Connection


def list_shown(messages: Sequence[AnyMessage]) -> list[str]:
    """Ids in the artifacts of the last messages; display text is never parsed for them."""
    artifacts = [message.artifact for message in messages[-ARTIFACT_MESSAGES:] if isinstance(message, ToolMessage)]
    return [
        training_id for artifact in artifacts if isinstance(artifact, dict) for training_id in artifact.get(IDS_KEY, ())
    ]


async def list_excluded(
    connection: Connection, messages: Sequence[AnyMessage], *, show_more: bool, named: Sequence[str]
) -> set[str]:
    """The ids to exclude, with their parents and children. A new search repeats what fits; only show-more does not."""
    ids = [*(list_shown(messages) if show_more else ()), *named]
    return set(await expand_related(connection, ids)) if ids else set()
