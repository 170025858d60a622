"""Training Matching's explanation of one training, as its question and its answer cross from HTTP to the assistant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class TrainingQuestion:
    """Which training, for whom, in which language. `search_query` is what the person searched for, in their words."""

    training_id: str
    user_id: str
    locale: str
    search_query: str = ""


@dataclass(frozen=True)
class TrainingRationale:
    """Why a training fits. `facts` are the supported matches, `{name, values}`; `source` says who wrote the text: a
    model, or the fixed form that lists the facts. `usage` is tokens and cost by task label."""

    training_id: str
    title: str
    text: str
    facts: Sequence[Mapping[str, Any]]
    source: Literal["model", "facts"]
    usage: Mapping[str, Any]
