"""When a role-play ends: by what was written, counted and measured."""

from datetime import UTC, datetime, timedelta

import pytest

from graph.policy import SIMULATION_EXCHANGES, SIMULATION_MINUTES
from graph.simulation.budget import Budget, asks_to_end, find_ending, plan_budget

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BUDGET = Budget(exchanges=10, minutes=30)


@pytest.mark.parametrize(("minutes", "budget"), [(5, (8, 15)), (10, (15, 30)), (20, (30, 60)), (45, (40, 135))])
def test_a_budget_follows_from_the_estimated_minutes(minutes: int, budget: tuple[int, int]) -> None:
    planned = plan_budget(minutes)
    assert (planned.exchanges, planned.minutes) == budget


def test_every_allowed_scenario_has_a_budget_within_its_bounds() -> None:
    least, most = SIMULATION_EXCHANGES
    for minutes in range(SIMULATION_MINUTES[0], SIMULATION_MINUTES[1] + 1):
        budget = plan_budget(minutes)
        assert least <= budget.exchanges <= most
        assert budget.minutes > minutes


@pytest.mark.parametrize(
    ("exchanges", "minutes", "ending"),
    [
        (0, 0, None),
        (9, 29.99, None),
        (10, 0, "exchanges"),
        (11, 99, "exchanges"),
        (1, 30, "time"),
        (1, 60 * 24 * 7, "time"),
    ],
)
def test_the_first_border_that_is_reached_ends_it(exchanges: int, minutes: float, ending: str | None) -> None:
    now = NOON + timedelta(minutes=minutes)
    assert find_ending(BUDGET, exchanges=exchanges, started_at=NOON, now=now) == ending


@pytest.mark.parametrize(
    "message", ["End the simulation", " END SIMULATION! ", "Arrêter la simulation.", "¡Terminar la simulación!"]
)
def test_an_end_phrase_alone_ends_it(message: str) -> None:
    assert asks_to_end(message, {})


@pytest.mark.parametrize("message", ["Stop.", "The end", "Please end the simulation of the model", "…", ""])
def test_other_words_do_not_end_it(message: str) -> None:
    assert not asks_to_end(message, {})
    assert not asks_to_end(message, {"confirmation": False})
    assert asks_to_end(message, {"confirmation": True})
