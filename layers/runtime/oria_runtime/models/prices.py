"""The price table: `prices.json` beside this file, in US dollars per million tokens, by provider and model.

How to update it: read the provider's pricing page (`source` in the file), change the figures, set `checked` to that
day, and run `pytest tests/unit/models`. `input` is the price of uncached input; `cached_input` and `cache_write`
default to it; `output` may be absent for models without output. A request with more input tokens than `above` is
charged by `long` as a whole, and has no known cost when that is absent. A dated snapshot (`name-2026-09-22`,
`name-20260922`) has the price of its name. A model that is not in the table has no cost, and its tokens are counted all
the same; an operator may give one its price in the tenant's configuration.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from oria_runtime.tenancy.tenants import Provider

SNAPSHOT_SUFFIX = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")
PER_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    cached_input: float
    cache_write: float
    output: float


@dataclass(frozen=True)
class ListPrice(Price):
    """A row of the table; requests above that many input tokens cost `long`."""

    above: int | None = None
    long: Price | None = None


@dataclass(frozen=True)
class Tokens:
    """The tokens of one call. `input` includes `cached` and `cache_written`."""

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0


def estimate_cost(model: str, tokens: Tokens, provider: Provider = "openai", own: Price | None = None) -> float | None:
    """US dollars of a call, or None when the model has no known price. `own` is the operator's price; it wins."""
    price = own or find_price(model, tokens, provider)
    if price is None:
        return None
    fresh = tokens.input - tokens.cached - tokens.cache_written
    total = (
        fresh * price.input
        + tokens.cached * price.cached_input
        + tokens.cache_written * price.cache_write
        + tokens.output * price.output
    )
    return total / PER_MILLION


def find_price(model: str, tokens: Tokens, provider: Provider) -> Price | None:
    """The list price of a call of that size."""
    listed = read_prices().get((provider, SNAPSHOT_SUFFIX.sub("", model)))
    if listed is None or listed.above is None or tokens.input <= listed.above:
        return listed
    return listed.long


@cache
def read_prices() -> Mapping[tuple[str, str], ListPrice]:
    """The table by provider and model, read once."""
    table = json.loads(Path(__file__).with_name("prices.json").read_text(encoding="utf-8"))
    return {
        (provider, model): parse_price(entry)
        for provider, listed in table["providers"].items()
        for model, entry in listed["models"].items()
    }


def parse_price(entry: Mapping[str, Any]) -> ListPrice:
    """One row of the file with its defaults filled."""
    fresh = entry["input"]
    return ListPrice(
        input=fresh,
        cached_input=entry.get("cached_input", fresh),
        cache_write=entry.get("cache_write", fresh),
        output=entry.get("output", 0.0),
        above=entry.get("above"),
        long=parse_price(entry["long"]) if "long" in entry else None,
    )
