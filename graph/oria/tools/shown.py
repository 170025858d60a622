"""What earlier results showed: the ids in their artifacts (seeds/oria_orchestration.md, "Search result identity")."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, ToolMessage

from graph.policy import ARTIFACT_MESSAGES


def list_shown(messages: Sequence[AnyMessage], ids_key: str) -> list[str]:
    """The ids under this key in the artifacts of the last messages; display text is never parsed for them.

    For an explicit "show more" only: a new search may repeat what fits.
    """
    artifacts = [message.artifact for message in messages[-ARTIFACT_MESSAGES:] if isinstance(message, ToolMessage)]
    return [shown for artifact in artifacts if isinstance(artifact, dict) for shown in artifact.get(ids_key, ())]
