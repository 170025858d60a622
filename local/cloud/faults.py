"""Faults of delivery that real clouds have and a quiet machine has not: for soak tests, none by default.

Everything that travels is a delivery of a kind: an event from a bus to a target, or the record of a failed
invocation to its destination. A fault is a plan for one delivery: the delays (seconds) after which it arrives, once
each. No delay drops it, two duplicate it, a long one lets later ones pass.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

DeliveryKind = Literal["event", "record"]
AT_ONCE: Sequence[float] = (0.0,)


class Faults(Protocol):
    """What a test may do to deliveries."""

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:
        """The delays of one delivery to `target` (an ARN)."""

    def rejects(self, entry: Mapping[str, Any]) -> bool:
        """Whether PutEvents reports this entry as failed (the call still answers 200)."""

    def refuses(self, target: str) -> bool:
        """Whether the target's API answers an attempt to deliver with an error (the rule's retry policy follows)."""


class NoFaults:
    """Everything arrives once, at once."""

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:  # noqa: ARG002
        return AT_ONCE

    def rejects(self, entry: Mapping[str, Any]) -> bool:  # noqa: ARG002
        return False

    def refuses(self, target: str) -> bool:  # noqa: ARG002
        return False


@dataclass
class SeededFaults(NoFaults):
    """Drops, duplicates and delays by given shares (0 to 1), the same for the same seed and order of deliveries.

    `active` can be switched off to let a soak come to rest. `counts` says what was done.
    """

    seed: int
    drop: float = 0.0
    duplicate: float = 0.0
    delay: float = 0.0
    longest_delay: float = 2.0
    reject: float = 0.0
    active: bool = True
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - repeatable, not secret

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:  # noqa: ARG002
        draw = self._random.random()
        if not self.active:
            return AT_ONCE
        if draw < self.drop:
            return self._count(f"{kind} dropped", ())
        if draw < self.drop + self.duplicate:
            return self._count(f"{kind} duplicated", (0.0, self._random.uniform(0, self.longest_delay)))
        if draw < self.drop + self.duplicate + self.delay:
            return self._count(f"{kind} delayed", (self._random.uniform(0, self.longest_delay),))
        return AT_ONCE

    def rejects(self, entry: Mapping[str, Any]) -> bool:  # noqa: ARG002
        if not self.active or self._random.random() >= self.reject:
            return False
        self._count("entry rejected", ())
        return True

    def _count(self, what: str, delays: Sequence[float]) -> Sequence[float]:
        self.counts[what] = self.counts.get(what, 0) + 1
        return delays
