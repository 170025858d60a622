"""What the model calls of one invocation used, by task label.

The JSON form is `{label: {"calls", "input_tokens", "cached_tokens", "output_tokens", "cost"}}`; `cost` is US dollars,
and null as soon as one call has no known price, because a partial sum would be read as the whole. The SQL function
`merge_usage` adds the usage of one stage to a turn's by the same rule.
"""

from dataclasses import dataclass, field
from typing import Any

from oria_runtime.models.prices import Price, Tokens, estimate_cost
from oria_runtime.tenancy.tenants import Provider

COST_DIGITS = 9


@dataclass
class Tally:
    """Sums of the calls under one label."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    def add(self, other: "Tally") -> None:
        """Add another tally into this one."""
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.cached_tokens += other.cached_tokens
        self.output_tokens += other.output_tokens
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "cost": None if self.cost is None else round(self.cost, COST_DIGITS),
        }


@dataclass
class Usage:
    """The tallies of all labels. One task adds at a time: everything runs on one loop."""

    labels: dict[str, Tally] = field(default_factory=dict)

    def record(
        self,
        label: str,
        model: str,
        tokens: Tokens | None,
        *,
        provider: Provider = "openai",
        price: Price | None = None,
        output_charged: bool = True,
    ) -> None:
        """Count one call. None says that the provider reported no usage: then nobody knows what it cost.

        Native decisions report output tokens that are not charged.
        """
        counted = tokens or Tokens()
        charged = counted if output_charged else Tokens(counted.input, counted.cached, counted.cache_written)
        cost = estimate_cost(model, charged, provider, price) if tokens is not None else None
        tally = Tally(1, counted.input, counted.cached, counted.output, cost)
        self.labels.setdefault(label, Tally()).add(tally)

    def as_json(self) -> dict[str, Any]:
        return {label: tally.as_json() for label, tally in self.labels.items()}

    def total(self) -> Tally:
        """All labels together."""
        total = Tally()
        for tally in self.labels.values():
            total.add(tally)
        return total
