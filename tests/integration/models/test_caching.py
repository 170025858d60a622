"""What of prompt caching travels on each wire."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from oria_runtime.models.client import build_models
from oria_runtime.models.prompts import write_prompt
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.model_providers import (
    ANTHROPIC,
    AZURE_RESPONSES,
    COMPATIBLE,
    COMPLETIONS,
    PROVIDERS,
    RESPONSES,
    Provider,
)
from tests.support.scripted_model import Script, Seen

STABLE = "Follow these rules. " * 300


async def ask(script: Script, provider: Provider, request: str, stable: str = STABLE) -> Seen:
    config = TenantConfig.model_validate(provider.configure(script))
    chat = build_models(ModelSettings(), config, environ=script.environ).chat("mini", "x")
    await chat.ainvoke([write_prompt(stable, request), HumanMessage("hello")])
    return script.requests[-1]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)
@pytest.mark.parametrize("stable", [STABLE, "Be brief."], ids=["long", "short"])
async def test_the_model_reads_the_same_prompt_cached_or_not(script: Script, provider: Provider, stable: str) -> None:
    seen = await ask(script, provider, "Today is Monday.", stable)
    assert seen.prompt is not None
    assert seen.prompt.system_text.replace("\n", "") == f"{stable}Today is Monday."
    if stable != STABLE:
        assert "cache" not in seen.text


async def test_openais_breakpoint_ends_the_stable_part(script: Script) -> None:
    for provider, field, kind in ((RESPONSES, "input", "input_text"), (COMPLETIONS, "messages", "text")):
        seen = await ask(script, provider, "Today is Monday.")
        first, second = seen.body[field][0]["content"]
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
        assert first == {"type": kind, "text": STABLE} | mark
        assert second == {"type": kind, "text": "\n\nToday is Monday."}


@pytest.mark.parametrize("provider", [RESPONSES, COMPLETIONS, AZURE_RESPONSES], ids=lambda provider: provider.id)
async def test_the_cache_key_is_that_of_the_prefix(script: Script, provider: Provider) -> None:
    requests = ((STABLE, "Monday"), (STABLE, "Tuesday"), (STABLE + "More.", "Monday"))
    keys = [(await ask(script, provider, day, stable)).body["prompt_cache_key"] for stable, day in requests]
    assert keys[0] == keys[1] != keys[2]


async def test_anthropics_mark_ends_the_stable_part_and_others_have_none(script: Script) -> None:
    seen = await ask(script, ANTHROPIC, "Today is Monday.")
    first, second = seen.body["system"]
    assert first == {"type": "text", "text": STABLE, "cache_control": {"type": "ephemeral"}}
    assert second == {"type": "text", "text": "\n\nToday is Monday."}
    assert "cache" not in (await ask(script, COMPATIBLE, "Today is Monday.")).text


async def test_tools_count_as_part_of_the_prefix(script: Script) -> None:
    tool: dict[str, Any] = {"name": "search", "description": "Long. " * 1_000, "parameters": {"type": "object"}}
    for provider in (RESPONSES, ANTHROPIC):
        config = TenantConfig.model_validate(provider.configure(script))
        chat: Any = build_models(ModelSettings(), config, environ=script.environ).chat("mini", "x")
        prompt = [write_prompt("Be brief.", "Today is Monday."), HumanMessage("hello")]
        await chat.bind_tools([tool]).ainvoke(prompt)
        assert "cache_control" in script.requests[-1].text or "prompt_cache_breakpoint" in script.requests[-1].text
