"""A conversation begun with one provider and continued with another, and what stays private to its model."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.base import messages_to_dict
from langchain_core.messages.utils import messages_from_dict
from langchain_core.tools import tool

from graph.middleware.delivery import keep_calls
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.model_providers import ANTHROPIC, AZURE_RESPONSES, COMPATIBLE, PROVIDERS, RESPONSES, Provider
from tests.support.model_quirks import reason
from tests.support.oria_wire import list_entries
from tests.support.scripted_model import Script, Seen, call, say

LABEL = "langgraph.career_chat_agent"
EACH = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)
PRIVATE = ("reasoning", "thinking", "function_call_id", "signature", "rs_resp")


@tool
def search(query: str) -> str:
    """Search the catalogue."""
    return query


def build(script: Script, provider: Provider, **more: Any) -> Models:
    config = TenantConfig.model_validate(provider.configure(script, **more))
    return build_models(ModelSettings(), config, environ=script.environ)


async def call_tool(models: Models, messages: list[AnyMessage], *, stream: bool) -> list[AnyMessage]:
    """A reasoned call with its result, as the graph keeps and stores them."""
    chat: Any = models.chat("mini", LABEL).bind_tools([search])
    if stream:
        made: Any = None
        async for chunk in chat.astream(messages):
            made = chunk if made is None else made + chunk
        action = AIMessage(
            content=made.content, tool_calls=made.tool_calls, response_metadata=made.response_metadata, id=made.id
        )
    else:
        action = await chat.ainvoke(messages)
    kept = keep_calls(action)
    result = ToolMessage("found", tool_call_id=kept.tool_calls[0]["id"], name="search")
    stored: Any = messages_from_dict(messages_to_dict([kept, result]))
    return list(stored)


def blocks_of(seen: Seen) -> str:
    """Everything but the request's own settings."""
    return str(seen.body.get("input") or seen.body["messages"])


@EACH
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_reasoning_goes_back_to_its_model_while_its_turn_lasts(
    script: Script, provider: Provider, stream: bool
) -> None:
    script.on(tool="search").reply(reason(call("search", query="python")))
    models = build(script, provider)
    asked: list[AnyMessage] = [SystemMessage("Help."), HumanMessage("hello")]
    pair = await call_tool(models, asked, stream=stream)
    assert (await models.chat("mini", LABEL).ainvoke([*asked, *pair])).text
    sent = blocks_of(script.requests[-1])
    assert ("rs_resp" in sent) is (provider.endpoint == "responses")
    assert ("signed-by-" in sent) is (provider.endpoint == "messages")


@EACH
@pytest.mark.parametrize("first", [RESPONSES, ANTHROPIC, COMPATIBLE], ids=lambda provider: provider.id)
async def test_another_provider_reads_text_and_calls_and_nothing_private(
    script: Script, provider: Provider, first: Provider
) -> None:
    script.on(tool="search").reply(reason(call("search", query="python")))
    history: list[AnyMessage] = [SystemMessage("Help."), HumanMessage("hello")]
    history += await call_tool(build(script, first), history, stream=True)
    history += [AIMessage("Found python."), HumanMessage("And sql?")]
    # Foreign within the turn too: the tenant changed its configuration while the turn was paused.
    history += await call_tool(build(script, first), history, stream=False)
    script.on(label="next").reply(say("Found sql."))
    models = build(script, provider, model="gpt-6-sol" if first is provider is RESPONSES else provider.profile["model"])
    assert (await models.chat("mini", "next").ainvoke(history)).text == "Found sql."
    (seen,) = script.seen(label="next")
    if provider is not first or provider is RESPONSES:
        assert not [word for word in PRIVATE if word in blocks_of(seen)]
    assert seen.prompt is not None
    roles = [entry.role for entry in seen.prompt.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool"]


@pytest.mark.parametrize("provider", [RESPONSES, AZURE_RESPONSES, ANTHROPIC], ids=lambda provider: provider.id)
async def test_what_a_provider_keeps_for_a_while_is_not_asked_for_in_a_later_turn(
    script: Script, provider: Provider
) -> None:
    script.on(tool="search").reply(reason(call("search", query="python")))
    models = build(script, provider)
    history: list[AnyMessage] = [HumanMessage("hello")]
    history += await call_tool(models, history, stream=False)
    await models.chat("mini", "later").ainvoke([*history, AIMessage("Found it."), HumanMessage("Thanks")])
    (seen,) = script.seen(label="later")
    assert not [word for word in PRIVATE if word in blocks_of(seen)]


async def test_a_conversation_goes_round_all_providers(script: Script) -> None:
    history: list[AnyMessage] = [SystemMessage("Help.")]
    for number, provider in enumerate([*PROVIDERS, *reversed(PROVIDERS)]):
        history.append(HumanMessage(f"question {number}"))
        script.on(tool="search", text=f"question {number}").reply(reason(call("search", query=f"q{number}")))
        script.on(label=f"answer{number}").reply(reason(say(f"answer {number}")))
        models = build(script, provider)
        history += await call_tool(models, history, stream=bool(number % 2))
        history.append(await models.chat("mini", f"answer{number}").ainvoke(history))
        (seen,) = script.seen(label=f"answer{number}")
        if seen.endpoint != "messages":
            said = [entry.get("text") for entry in list_entries(seen) if "text" in entry]
            assert said[-1] == f"question {number}"
            assert said[1:-1:2] == [f"answer {earlier}" for earlier in range(number)]
