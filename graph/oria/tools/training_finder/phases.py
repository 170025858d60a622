"""The time boxes of a learning plan: found trainings, in their order, cut into phases of whole weeks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from graph.policy import PLAN_ASSUMED_MINUTES, PLAN_PHASES, PLAN_WEEKLY_MINUTES
from oria_runtime.catalog.trainings import Training


@dataclass(frozen=True)
class Phase:
    """A part of a plan. Weeks count from 1 and include both ends; `minutes` is the learning time inside."""

    trainings: Sequence[Training]
    start_week: int
    end_week: int
    minutes: int


def build_phases(trainings: Sequence[Training], *, weeks: int | None, weekly_minutes: int | None) -> list[Phase]:
    """The phases of a plan.

    Args:
        weeks: how long the plan shall run; None: as long as the trainings take.
        weekly_minutes: the time for it each week; None: the policy's.

    With `weeks` given, the plan keeps the first trainings that fit; never fewer than one for each phase.
    """
    weekly = weekly_minutes or PLAN_WEEKLY_MINUTES
    fitting = trainings if weeks is None else keep_fitting(trainings, weeks * weekly)
    if not fitting:
        return []
    total = sum(count_minutes(training) for training in fitting)
    span = max(1, ceil(total / weekly)) if weeks is None else weeks
    count = min(PLAN_PHASES, len(fitting), span)
    groups = split_evenly(fitting, count)
    phases: list[Phase] = []
    start, done = 1, 0
    for index, group in enumerate(groups):
        minutes = sum(count_minutes(training) for training in group)
        done += minutes
        latest = span - (count - index - 1)
        end = latest if index == count - 1 else min(latest, max(start, round(span * done / total)))
        phases.append(Phase(group, start, end, minutes))
        start = end + 1
    return phases


def keep_fitting(trainings: Sequence[Training], budget: int) -> Sequence[Training]:
    """The first trainings within the budget of minutes, but at least one for each phase."""
    used = 0
    for index, training in enumerate(trainings):
        used += count_minutes(training)
        if used > budget and index >= PLAN_PHASES:
            return trainings[:index]
    return trainings


def split_evenly(trainings: Sequence[Training], count: int) -> list[Sequence[Training]]:
    """Consecutive groups of about equal learning time, none empty."""
    total = sum(count_minutes(training) for training in trainings)
    groups: list[list[Training]] = [[]]
    done = 0
    for index, training in enumerate(trainings):
        left, open_groups = len(trainings) - index, count - len(groups)
        if groups[-1] and open_groups and (left == open_groups or done >= total * len(groups) / count):
            groups.append([])
        groups[-1].append(training)
        done += count_minutes(training)
    return list(groups)


def count_minutes(training: Training) -> int:
    return training.duration_minutes or PLAN_ASSUMED_MINUTES
