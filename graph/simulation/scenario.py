"""The scenario of a role-play: what the person practises, with whom, and what the assessment looks for."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from graph.oria.untrusted import encode_data

Difficulty = Literal["beginner", "intermediate", "advanced"]


class Part(BaseModel):
    """Base of the scenario's parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Counterpart(Part):
    """Whom the person talks to. `person_id` and `name` are set by code, for a colleague who was found, and only then.

    `attitude` and `instructions` are the counterpart's own: the person must find out by talking.
    """

    role: str
    attitude: str
    instructions: str
    person_id: str | None = None
    name: str | None = None


class PractisedSkill(Part):
    """One capability, the code that the tenant's catalogue has for it, and what shows it."""

    title: str
    code: str | None
    criteria: tuple[str, ...]


class Scenario(Part):
    """A whole scenario. `opening_line` is what the counterpart has said when the person enters."""

    title: str
    situation: str
    counterpart: Counterpart
    goal: str
    opening_line: str
    outcomes: tuple[str, ...]
    skills: tuple[PractisedSkill, ...]
    difficulty: Difficulty
    minutes: int


def read_scenario(value: Mapping[str, Any]) -> Scenario:
    """A stored scenario."""
    return Scenario.model_validate_json(encode_data(value))


def bound_text(text: str, limit: int) -> str:
    """What a model wrote, as one line within the limit, without the NUL that Postgres cannot store."""
    return " ".join(text.replace("\x00", "").split())[:limit]
