"""The price table: `prices.json` beside this file, in US dollars per million tokens.

How to update it: read the provider's pricing page (`source` in the file), change the figures, set `checked` to that
day, and run `pytest tests/unit/models`. `input` is the price of uncached input; `cached_input` and `cache_write`
default to it; `output` may be absent for models without output. A dated snapshot (`name-2026-09-22`) has the price of
its name. A model that is not in the table has no cost, and its tokens are counted all the same.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SNAPSHOT_SUFFIX = re.compile(r"-\d{4}-\d{2}-\d{2}$")
PER_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    cached_input: float
    cache_write: float
    output: float


@dataclass(frozen=True)
class Tokens:
    """The tokens of one call. `input` includes `cached` and `cache_written`."""

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0


def estimate_cost(model: str, tokens: Tokens) -> float | None:
    """US dollars of a call, or None when the model has no known price."""
    price = read_prices().get(SNAPSHOT_SUFFIX.sub("", model))
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


@cache
def read_prices() -> Mapping[str, Price]:
    """The table, read once."""
    table = json.loads(Path(__file__).with_name("prices.json").read_text(encoding="utf-8"))
    return {model: parse_price(entry) for model, entry in table["models"].items()}


def parse_price(entry: Mapping[str, float]) -> Price:
    """One row of the file with its defaults filled."""
    fresh = entry["input"]
    return Price(
        input=fresh,
        cached_input=entry.get("cached_input", fresh),
        cache_write=entry.get("cache_write", fresh),
        output=entry.get("output", 0.0),
    )
