"""The card that shows trainings, and the text that stands for it where cards cannot be shown."""

from collections.abc import Sequence
from typing import Any, Final

from graph.oria.window import CARD_TYPE_KEY
from oria_runtime.catalog.trainings import Training

CARD_TYPE: Final = "trainingSuggestionList"
IDS_KEY: Final = "training_ids"
HIDDEN_FIELDS: Final = {"active", "keywords", "parents", "children"}


def build_card(trainings: Sequence[Training], *, title: str, subtitle: str = "", **parts: Any) -> dict[str, Any]:
    """A card of trainings in their order. Items carry no rationale: that is asked for one training at a time."""
    items = [training.model_dump(mode="json", exclude=HIDDEN_FIELDS) for training in trainings]
    return {"type": CARD_TYPE, "title": title, "subtitle": subtitle, "items": items} | parts


def build_artifact(trainings: Sequence[Training]) -> dict[str, Any]:
    """What later turns need of a result: the returned ids. It is checkpointed and never sent to a model."""
    return {CARD_TYPE_KEY: CARD_TYPE, IDS_KEY: [training.id for training in trainings]}


def write_lines(trainings: Sequence[Training]) -> str:
    """One line for each training: title, duration, provider."""
    return "\n".join(f"- {write_line(training)}" for training in trainings)


def write_line(training: Training) -> str:
    duration = training.duration_minutes
    details = [f"{duration} min"] if duration else []
    details += [training.provider] if training.provider else []
    return training.title + (f" ({', '.join(details)})" if details else "")
