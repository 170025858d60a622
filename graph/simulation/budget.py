"""When a role-play is over: decided by code from the turns' rows and the request's clock, never by a model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from graph.policy import SIMULATION_EXCHANGES, SIMULATION_EXCHANGES_PER_MINUTE, SIMULATION_TIME_FACTOR
from oria_runtime.catalog.spelling import fold_letters

Ending = Literal["person", "exchanges", "time"]

# What ends a role-play when it is the whole message; the button of a client sends `confirmation` instead. A bare "stop"
# may be a line of the talk.
END_PHRASES: Final = frozenset(
    {
        "end simulation", "end the simulation", "stop the simulation", "finish the simulation", "end the role play",
        "fin de la simulation", "terminer la simulation", "arreter la simulation", "fin du jeu de role",
        "fin de la simulacion", "terminar la simulacion", "finalizar la simulacion", "fin del juego de rol",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """What a role-play may take: exchanges, and minutes from its first message."""

    exchanges: int
    minutes: int


def plan_budget(minutes: int) -> Budget:
    """The budget of a scenario that is estimated to take so many minutes."""
    least, most = SIMULATION_EXCHANGES
    exchanges = round(minutes * SIMULATION_EXCHANGES_PER_MINUTE)
    return Budget(min(most, max(least, exchanges)), round(minutes * SIMULATION_TIME_FACTOR))


def find_ending(budget: Budget, *, exchanges: int, started_at: datetime, now: datetime) -> Ending | None:
    """Why the role-play ends with the message at hand, or None when it goes on.

    Args:
        exchanges: messages that the counterpart has replied to.
        started_at: when the first of them was sent; the clock is only read from the second message on.
    """
    if exchanges >= budget.exchanges:
        return "exchanges"
    if (now - started_at).total_seconds() >= budget.minutes * 60:
        return "time"
    return None


def asks_to_end(message: str, request: Mapping[str, Any]) -> bool:
    """Whether the person ends the role-play: by the confirmation of a client's button, or by an end phrase alone."""
    return request.get("confirmation") is True or fold(message) in END_PHRASES


def fold(text: str) -> str:
    """The words alone, without case and accents."""
    return " ".join(re.findall(r"\w+", fold_letters(text)))
