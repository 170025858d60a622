"""When a prompt's stable beginning is worth a cache, and how it is marked."""

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from oria_runtime.models.caching import ANTHROPIC_MARK, OPENAI_MARK, choose_key, choose_mark, find_prefix, write_system
from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.prompts import extend_prompt, split_prompt, write_prompt
from oria_runtime.tenancy.tenants import Provider

LONG = "x" * 4_096 * 4


def profile(provider: Provider, model: str) -> ResolvedProfile:
    return ResolvedProfile(model=model, provider=provider)


def test_a_prompt_reads_as_one_text_and_keeps_its_stable_part_when_it_grows() -> None:
    prompt = extend_prompt(write_prompt("STABLE", "request"), "phase")
    assert prompt.text == "STABLE\n\nrequest\n\nphase"
    assert split_prompt(prompt) == ("STABLE", "\n\nrequest\n\nphase")
    assert extend_prompt(SystemMessage("plain"), "phase").text == "plain\n\nphase"
    assert extend_prompt(None, "phase").text == "phase"


def test_the_prefix_holds_tools_and_stable_part_and_nothing_that_changes() -> None:
    tools = [{"name": "search"}]
    first = find_prefix([write_prompt("STABLE", "today is Monday"), HumanMessage("hello")], tools)
    second = find_prefix([write_prompt("STABLE", "today is Tuesday"), HumanMessage("bye")], tools)
    assert first == second
    assert "search" in first
    assert find_prefix([write_prompt("STABLE", "x")], None) != first
    assert find_prefix([SystemMessage("unmarked"), HumanMessage("hello")], tools) == ""


@pytest.mark.parametrize(
    ("provider", "model", "tokens", "marked", "keyed"),
    [
        ("openai", "gpt-6-luna", 1_023, False, False),
        ("openai", "gpt-6-luna", 1_024, True, True),
        ("openai", "gpt-4.1", 1_024, False, True),
        ("openai", "home-made", 4_096, False, False),
        ("azure", "gpt-6-luna", 1_024, False, True),
        ("ovh", "gpt-oss-120b", 4_096, False, False),
        ("compatible", "gpt-6-luna", 4_096, False, False),
        ("anthropic", "claude-sonnet-5", 1_023, False, False),
        ("anthropic", "claude-sonnet-5", 1_024, True, False),
        ("anthropic", "claude-opus-5-5", 512, True, False),
        ("anthropic", "claude-haiku-4-5-20251001", 4_095, False, False),
        ("anthropic", "claude-haiku-4-5-20251001", 4_096, True, False),
    ],
)
def test_caching_is_asked_for_where_the_provider_has_it_and_the_prefix_is_long_enough(
    provider: Provider, model: str, tokens: int, marked: bool, keyed: bool
) -> None:
    resolved = profile(provider, model)
    expected = {"openai": OPENAI_MARK, "anthropic": ANTHROPIC_MARK}.get(provider) if marked else None
    assert choose_mark(resolved, LONG[: tokens * 4]) == expected
    key = choose_key(resolved, LONG[: tokens * 4])
    assert (key is not None) is keyed
    assert "x" not in (key or "")


def test_a_mark_stands_on_the_stable_block_alone() -> None:
    prompt = write_prompt("STABLE", "request")
    assert write_system(prompt, ANTHROPIC_MARK).content == [
        {"type": "text", "text": "STABLE", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "\n\nrequest"},
    ]
    assert write_system(prompt, None).content == "STABLE\n\nrequest"
    assert write_system(SystemMessage("plain"), ANTHROPIC_MARK).content == "plain"
