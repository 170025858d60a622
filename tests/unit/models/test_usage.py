"""Counting tokens and estimating their cost."""

import json
from datetime import date
from pathlib import Path

import pytest

from oria_runtime.models import prices
from oria_runtime.models.caching import BREAKPOINT_MODELS
from oria_runtime.models.prices import Tokens, estimate_cost, read_prices
from oria_runtime.models.profiles import read_price
from oria_runtime.models.usage import Usage
from oria_runtime.tenancy.tenants import ModelPrice


def test_cached_and_written_tokens_have_their_own_price() -> None:
    tokens = Tokens(input=100_000, cached=50_000, cache_written=10_000, output=100_000)
    assert estimate_cost("gpt-6-sol", tokens) == pytest.approx((0.4 * 2 + 0.5 * 0.2 + 0.1 * 2.5 + 10) / 10)


def test_a_long_request_has_the_long_price_as_a_whole() -> None:
    tokens = Tokens(input=300_000, cached=100_000, output=1_000)
    assert estimate_cost("gpt-6-luna", tokens) == pytest.approx((200_000 * 0.2 + 100_000 * 0.02 + 1_000 * 0.75) / 1e6)
    assert estimate_cost("gpt-6-astra", tokens) == pytest.approx((200_000 * 20 + 100_000 * 2 + 1_000 * 75) / 1e6)
    haiku = Tokens(input=100_001)
    assert estimate_cost("claude-haiku-5-5-20261007", haiku, "anthropic") == pytest.approx(100_001 * 0.5 / 1e6)


def test_a_price_belongs_to_its_provider_and_the_operators_own_wins() -> None:
    tokens = Tokens(input=1_000, cached=500, output=100)
    assert estimate_cost("gpt-6-luna", tokens, "compatible") is None
    assert estimate_cost("gpt-6-luna", tokens, "anthropic") is None
    own = read_price(ModelPrice(input=4.0, output=8.0))
    assert estimate_cost("gpt-6-luna", tokens, "azure", own) == pytest.approx((1_000 * 4 + 100 * 8) / 1e6)


def test_a_dated_snapshot_costs_what_its_name_costs() -> None:
    tokens = Tokens(input=1_000)
    assert estimate_cost("gpt-6-luna-2026-09-22", tokens) == estimate_cost("gpt-6-luna", tokens)


def test_an_unknown_model_has_no_cost_and_its_tokens_are_counted() -> None:
    usage = Usage()
    usage.record("a", "gpt-6-luna", Tokens(input=10, output=5))
    usage.record("b", "home-made", Tokens(input=7, output=3))
    counted = usage.as_json()
    assert counted["b"] == {
        "calls": 1,
        "input_tokens": 7,
        "cached_tokens": 0,
        "output_tokens": 3,
        "cost": None,
    }
    assert usage.total().input_tokens == 17
    assert usage.total().cost is None
    assert counted["a"]["cost"] > 0


def test_a_call_without_reported_usage_has_no_known_cost() -> None:
    usage = Usage()
    usage.record("a", "gpt-6-luna", Tokens(input=10, output=5))
    usage.record("a", "gpt-6-luna", None)
    assert usage.as_json()["a"] == {
        "calls": 2,
        "input_tokens": 10,
        "cached_tokens": 0,
        "output_tokens": 5,
        "cost": None,
    }


def test_output_that_is_not_charged_is_counted_without_cost() -> None:
    usage = Usage()
    usage.record("decision", "gpt-6-luna", Tokens(input=1_000, output=1_000), output_charged=False)
    assert usage.labels["decision"].output_tokens == 1_000
    assert usage.labels["decision"].cost == pytest.approx(1_000 * 0.1 / 1e6)


def test_writing_a_cache_that_is_asked_for_costs_more_than_reading_the_prompt() -> None:
    for (provider, model), price in read_prices().items():
        if model.startswith(BREAKPOINT_MODELS) or provider == "anthropic":
            for row in filter(None, (price, price.long)):
                assert row.cache_write == pytest.approx(1.25 * row.input), model


def test_the_price_table_is_whole_and_says_when_it_was_checked() -> None:
    table = json.loads(Path(prices.__file__).with_name("prices.json").read_text(encoding="utf-8"))
    assert date.fromisoformat(table["checked"])
    assert all(listed["source"].startswith("https://") for listed in table["providers"].values())
    for model, price in read_prices().items():
        for row in filter(None, (price, price.long)):
            assert 0 < row.cached_input <= row.input <= row.cache_write, model
