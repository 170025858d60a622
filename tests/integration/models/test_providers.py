"""Every provider over HTTP on its own wire: answers, tools, schemas, usage and cost, and each way to fail."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from local.offline_model.wire.answers import Answer, TokenCount
from oria_runtime.models.client import Models, build_models
from oria_runtime.models.errors import (
    DecisionUnavailableError,
    ModelAccessError,
    ModelError,
    ModelIncompleteError,
    ModelMalformedError,
    ModelRefusalError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from oria_runtime.models.transport import open_client
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.model_providers import (
    ANTHROPIC,
    AZURE_COMPLETIONS,
    AZURE_RESPONSES,
    COMPATIBLE,
    OVH,
    PROVIDERS,
    RESPONSES,
    Provider,
)
from tests.support.model_quirks import (
    break_stream,
    filtered,
    with_prompt_filter,
    without_call_fields,
    without_usage,
    written,
)
from tests.support.scripted_model import (
    Script,
    Step,
    answer_with,
    call,
    call_all,
    call_raw,
    choose,
    cut,
    drop,
    end_early,
    fail,
    give,
    hang,
    malformed,
    refuse,
    say,
)

LABEL = "langgraph.career_chat_agent"
EACH = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
# One for each client class; what differs between wires does not reach it.
SDKS = pytest.mark.parametrize("provider", [RESPONSES, AZURE_COMPLETIONS, ANTHROPIC], ids=lambda provider: provider.id)
COMPATIBLES = pytest.mark.parametrize("provider", [OVH, COMPATIBLE], ids=lambda provider: provider.id)


class Chapters(BaseModel):
    """The parts of a plan."""

    titles: list[str] = Field(min_length=1)


class Plan(BaseModel):
    """A learning plan."""

    title: str
    weeks: int
    note: str | None = None


@tool
def search(query: str) -> str:
    """Search the catalogue."""
    return query


def build(script: Script, provider: Provider, **more: Any) -> Models:
    config = TenantConfig.model_validate(provider.configure(script, **more))
    return build_models(ModelSettings(), config, environ=script.environ)


async def ask(models: Models, messages: Any = "hello", *, stream: bool = False, tools: bool = False) -> AIMessage:
    chat: Any = models.chat("mini", LABEL)
    runnable = chat.bind_tools([search], parallel_tool_calls=False) if tools else chat
    if not stream:
        answer: AIMessage = await runnable.ainvoke(messages)
        return answer
    merged: AIMessageChunk | None = None
    async for chunk in runnable.astream(messages):
        merged = chunk if merged is None else merged + chunk
    assert merged is not None
    return merged


async def listen(models: Models, heard: list[str]) -> None:
    async for chunk in models.chat("mini", LABEL).astream("hello"):
        heard.append(chunk.text)


@EACH
@STREAM
async def test_an_answer_comes_by_the_providers_own_way_and_is_counted(
    script: Script, provider: Provider, stream: bool
) -> None:
    script.on(label=LABEL).reply(say("Good morning to you.", tokens=TokenCount(1_000, 200, cached=400)))
    models = build(script, provider)
    messages = [SystemMessage("Be brief."), HumanMessage("hello")]
    assert (await ask(models, messages, stream=stream)).text == "Good morning to you."
    (seen,) = script.requests
    assert (seen.endpoint, seen.path, seen.label) == (provider.endpoint, provider.path, LABEL)
    header, value = provider.key
    assert seen.headers[header] == value
    assert seen.prompt is not None
    assert (seen.prompt.system_text, seen.prompt.latest_user_text) == ("Be brief.", "hello")
    price = pytest.approx((600 * 0.1 + 400 * 0.01 + 200 * 0.5) / 1e6) if provider.priced else None
    assert models.usage.as_json()[LABEL] == {
        "calls": 1,
        "input_tokens": 1_000,
        "cached_tokens": 400,
        "output_tokens": 200,
        "cost": price,
    }


@EACH
@STREAM
async def test_a_tool_call_and_its_result_go_round_and_the_last_call_has_no_tools(
    script: Script, provider: Provider, stream: bool
) -> None:
    script.on(label=LABEL).reply(call("search", query="python"), say("Found it."))
    models = build(script, provider)
    asked = [SystemMessage("Help."), HumanMessage("hello")]
    made = await ask(models, asked, stream=stream, tools=True)
    assert [(each["name"], each["args"]) for each in made.tool_calls] == [("search", {"query": "python"})]
    result = ToolMessage("python", tool_call_id=made.tool_calls[0]["id"])
    answer = await ask(models, [*asked, made, result], stream=stream)
    assert answer.text == "Found it."
    prompt = script.requests[-1].prompt
    assert prompt is not None
    assert [entry.role for entry in prompt.messages] == ["system", "user", "assistant", "tool"]
    assert not prompt.tools or prompt.tool_choice == "none"


@EACH
@STREAM
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (refuse(), ModelRefusalError),
        (answer_with(Answer("I would", finish="content_filter")), ModelRefusalError),
        (cut(), ModelIncompleteError),
        (call_raw("search", '{"query": "pyth'), ModelMalformedError),
        (malformed(), ModelMalformedError),
    ],
    ids=["refusal", "filter", "cut", "arguments", "body"],
)
async def test_an_answer_that_is_none_raises_and_is_not_asked_for_again(
    script: Script, provider: Provider, stream: bool, step: Step, error: type[ModelError]
) -> None:
    if provider is ANTHROPIC and not stream and error is ModelMalformedError:
        step = malformed()  # A whole body of this wire cannot hold arguments that are no JSON.
    script.on(label=LABEL).reply(step)
    models = build(script, provider)
    # A body without events is to a stream what a stream without an end is.
    expected = (error, ModelIncompleteError) if stream and error is ModelMalformedError else error
    with pytest.raises(expected):
        await ask(models, stream=stream, tools=error is ModelMalformedError)
    assert len(script.requests) == 1
    paid = models.usage.labels.get(LABEL)
    assert error is ModelMalformedError or (paid is not None and paid.output_tokens > 0)


@EACH
@pytest.mark.parametrize(
    ("status", "error", "requests"),
    [
        (400, ModelRequestError, 1),
        (401, ModelAccessError, 1),
        (404, ModelAccessError, 1),
        (429, ModelUnavailableError, 3),
        (503, ModelUnavailableError, 3),
        (529, ModelUnavailableError, 3),
    ],
)
async def test_http_errors_are_retried_where_that_helps(
    script: Script, provider: Provider, status: int, error: type[ModelError], requests: int
) -> None:
    script.on().reply(fail(status, retry_after=0.01))
    with pytest.raises(error) as raised:
        await ask(build(script, provider))
    assert type(raised.value) is error
    assert len(script.requests) == requests


@SDKS
async def test_the_third_attempt_still_counts_and_waits_as_long_as_it_is_told(
    script: Script, provider: Provider
) -> None:
    script.queue(fail(429, retry_after=0.3), drop())
    models = build(script, provider)
    assert (await ask(models)).text
    first, second, _third = (seen.at for seen in script.requests)
    assert second - first >= 0.3
    assert models.usage.labels[LABEL].calls == 1


@EACH
async def test_the_deadline_ends_a_call_whatever_the_provider_hints(script: Script, provider: Provider) -> None:
    script.on().reply(fail(429, retry_after=30))
    models = build(script, provider)
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelTimeoutError):
        await models.structured(label=LABEL, schema=Plan, messages=[HumanMessage("x")], timeout=0.3)
    assert asyncio.get_running_loop().time() - started < 1.0
    assert len(script.requests) == 1


@EACH
async def test_cancellation_passes_through_a_stream(script: Script, provider: Provider) -> None:
    script.on().reply(hang())
    task = asyncio.create_task(ask(build(script, provider), stream=True))
    while not script.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@EACH
@pytest.mark.parametrize("fault", [drop, end_early], ids=["reset", "polite"])
async def test_a_stream_that_breaks_off_raises_after_what_it_said(
    script: Script, provider: Provider, fault: Any
) -> None:
    script.on().reply(fault(say("one two three four five six seven"), after=7))
    heard: list[str] = []
    models = build(script, provider)
    with pytest.raises((ModelUnavailableError, ModelIncompleteError)):
        await listen(models, heard)
    assert "one" in "".join(heard)
    assert len(script.requests) == 1
    # It is charged, and nobody knows how much.
    assert (models.usage.labels[LABEL].calls, models.usage.labels[LABEL].cost) == (1, None)


@EACH
@STREAM
async def test_a_schema_is_sent_strict_and_its_answer_read_back(
    script: Script, provider: Provider, stream: bool
) -> None:
    script.on().reply(give({"title": "Python", "weeks": 3, "note": None}))
    models = build(script, provider)
    plan = await models.structured(label="plan", schema=Plan, messages=[HumanMessage("Plan it.")], max_tokens=900)
    assert plan == Plan(title="Python", weeks=3)
    (seen,) = script.requests
    assert seen.prompt is not None
    assert seen.prompt.schema is not None
    assert seen.prompt.max_tokens == 900
    assert seen.prompt.schema["additionalProperties"] is False
    assert set(seen.prompt.schema["required"]) == {"title", "weeks", "note"}


@EACH
async def test_a_decision_without_a_native_endpoint_is_a_strict_choice(script: Script, provider: Provider) -> None:
    script.on().reply(choose("block"))
    models = build(script, provider, decisions="structured")
    chosen = await decide(models)
    assert chosen == "block"
    assert [seen.endpoint for seen in script.requests] == [provider.endpoint]


@EACH
@pytest.mark.parametrize(
    ("step", "reason", "requests"),
    [
        (choose("never offered"), "malformed", 1),
        (say("block"), "malformed", 1),
        (refuse(), "refusal", 1),
        (cut(), "incomplete", 1),
        (fail(503, retry_after=0.01), "unavailable", 3),
        (fail(400), "rejected", 1),
        (hang(), "timeout", 1),
    ],
    ids=["value", "text", "refusal", "cut", "down", "rejected", "silent"],
)
async def test_a_decision_that_fails_switches_neither_provider_nor_path(
    script: Script, provider: Provider, step: Step, reason: str, requests: int
) -> None:
    script.on().reply(step)
    models = build(script, provider, decisions="structured")
    with pytest.raises(DecisionUnavailableError) as raised:
        await decide(models, timeout=0.4 if reason == "timeout" else 5.0)
    assert raised.value.reason == reason
    assert [seen.path for seen in script.requests] == [provider.path] * requests


@SDKS
async def test_a_missing_key_is_an_access_error_before_any_request(script: Script, provider: Provider) -> None:
    keys = {"OPENAI_API_KEY": "", "AZURE_OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    config = TenantConfig.model_validate(provider.configure(script))
    chat = build_models(ModelSettings(), config, environ={**script.environ, **keys}).chat("mini", LABEL)
    with pytest.raises(ModelAccessError, match="_API_KEY is not set"):
        await chat.ainvoke("hello")
    assert not script.requests


@SDKS
async def test_the_variables_that_sdks_read_by_themselves_change_nothing(
    script: Script, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_AD_TOKEN", "LANGSMITH_GATEWAY", "OPENAI_API_VERSION"):
        monkeypatch.setenv(name, "other")
    monkeypatch.setenv("LC_OUTPUT_VERSION", "v1")
    assert (await ask(build(script, provider))).text
    (seen,) = script.requests
    assert (seen.path, seen.headers[provider.key[0]]) == (provider.path, provider.key[1])


async def decide(models: Models, timeout: float = 5.0) -> str:  # noqa: ASYNC109
    return await models.choose(
        label="langgraph.guardrails_decision",
        name="decision",
        instructions="Is this safe?",
        choices={"allow": "Ordinary.", "block": "Harmful."},
        evidence={"latest": "hello"},
        timeout=timeout,
    )


@pytest.mark.parametrize("provider", [AZURE_RESPONSES, OVH, COMPATIBLE], ids=lambda provider: provider.id)
async def test_embeddings_have_a_provider_of_their_own(script: Script, provider: Provider) -> None:
    models = build(script, provider)
    vectors = await models.embed(["one", "two"])
    assert [len(vector) for vector in vectors] == [512, 512]
    (seen,) = script.requests
    azure = provider is AZURE_RESPONSES
    assert seen.path == (
        provider.path.replace("responses", "deployments/vectors/embeddings") if azure else "/v1/embeddings"
    )
    assert seen.headers[provider.key[0]] == provider.key[1]
    assert seen.body["dimensions"] == 512
    assert models.usage.labels["embeddings"].input_tokens > 0
    assert models.usage.labels["embeddings"].cost is None


async def test_a_tenant_on_anthropic_embeds_with_openai(script: Script) -> None:
    models = build(script, ANTHROPIC)
    await ask(models)
    await models.embed(["one"])
    assert [seen.path for seen in script.requests] == ["/v1/messages", "/v1/embeddings"]


# --- Azure


@pytest.mark.parametrize("provider", [AZURE_RESPONSES, AZURE_COMPLETIONS], ids=lambda provider: provider.id)
@STREAM
async def test_a_prompt_that_azure_filters_is_a_refusal(script: Script, provider: Provider, stream: bool) -> None:
    script.on().reply(filtered())
    with pytest.raises(ModelRefusalError):
        await ask(build(script, provider), stream=stream)
    assert len(script.requests) == 1


@STREAM
async def test_azures_verdicts_beside_an_answer_change_nothing(script: Script, stream: bool) -> None:
    script.on().reply(with_prompt_filter(say("Hello there.", tokens=TokenCount(100, 10))))
    models = build(script, AZURE_COMPLETIONS)
    assert (await ask(models, stream=stream)).text == "Hello there."
    assert models.usage.labels[LABEL].cost == pytest.approx((100 * 0.1 + 10 * 0.5) / 1e6)


@pytest.mark.parametrize("provider", [AZURE_RESPONSES, AZURE_COMPLETIONS], ids=lambda provider: provider.id)
async def test_azure_is_asked_for_the_deployment_and_for_one_call_at_a_time(script: Script, provider: Provider) -> None:
    await ask(build(script, provider), tools=True)
    (seen,) = script.requests
    assert (seen.body["model"], seen.body["parallel_tool_calls"]) == ("small", False)


@pytest.mark.parametrize("provider", [RESPONSES, AZURE_RESPONSES, AZURE_COMPLETIONS], ids=lambda provider: provider.id)
async def test_azure_is_not_sent_the_sizes_of_lists_and_they_hold_all_the_same(
    script: Script, provider: Provider
) -> None:
    script.on().reply(give({"titles": []}))
    with pytest.raises(ModelMalformedError):
        await build(script, provider).structured(label="plan", schema=Chapters, messages=[HumanMessage("Plan it.")])
    (seen,) = script.requests
    assert seen.prompt is not None
    assert seen.prompt.schema is not None
    assert ("minItems" in seen.prompt.schema["properties"]["titles"]) is (provider is RESPONSES)


# --- Compatible servers


@COMPATIBLES
@STREAM
async def test_an_answer_without_usage_has_no_known_cost(script: Script, provider: Provider, stream: bool) -> None:
    script.on().reply(without_usage(say("Hello.")))
    models = build(script, provider, price={"input": 1.0, "output": 2.0})
    assert (await ask(models, stream=stream)).text == "Hello."
    assert (models.usage.labels[LABEL].calls, models.usage.labels[LABEL].cost) == (1, None)


@COMPATIBLES
async def test_the_operators_price_gives_an_unlisted_model_its_cost(script: Script, provider: Provider) -> None:
    script.on().reply(say("Hello.", tokens=TokenCount(1_000, 100)))
    models = build(script, provider, price={"input": 1.0, "output": 2.0})
    await ask(models)
    assert models.usage.labels[LABEL].cost == pytest.approx((1_000 * 1 + 100 * 2) / 1e6)


@COMPATIBLES
@STREAM
@pytest.mark.parametrize("names", [("index",), ("id",), ("id", "index")], ids="-".join)
async def test_calls_without_index_or_id_are_whole_calls(
    script: Script, provider: Provider, stream: bool, names: tuple[str, ...]
) -> None:
    two = call_all(("search", {"query": "python"}), ("search", {"query": "sql"}))
    script.on().reply(without_call_fields(two, *names))
    made = await ask(build(script, provider), stream=stream, tools=True)
    assert [each["args"] for each in made.tool_calls] == [{"query": "python"}, {"query": "sql"}]


@COMPATIBLES
async def test_a_compatible_server_is_sent_what_all_of_them_know(script: Script, provider: Provider) -> None:
    chat: Any = build(script, provider).chat("mini", LABEL, max_tokens=300)
    await chat.bind_tools([search], parallel_tool_calls=False).ainvoke([SystemMessage("x"), HumanMessage("hello")])
    (seen,) = script.requests
    assert seen.body["max_tokens"] == 300
    assert not seen.body.keys() & {"max_completion_tokens", "parallel_tool_calls", "prompt_cache_key"}
    assert all(isinstance(message["content"], str) for message in seen.body["messages"])


@pytest.mark.parametrize("provider", [OVH, COMPATIBLE, AZURE_RESPONSES], ids=lambda provider: provider.id)
async def test_the_account_at_openai_is_told_to_openai_alone(
    script: Script, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-operator")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-operator")
    models = build(script, provider)
    await ask(models)
    await models.embed(["hello"])
    assert len(script.requests) == 2
    assert not [name for seen in script.requests for name in seen.headers if name.lower().startswith("openai-")]


async def test_the_key_goes_to_the_address_that_the_deployment_names_and_to_no_other(script: Script) -> None:
    config = TenantConfig.model_validate(COMPATIBLE.configure(script))
    elsewhere = {**script.environ, "COMPATIBLE_BASE_URL": "https://models.example.com/v1"}
    for environ in (elsewhere, {**script.environ, "COMPATIBLE_BASE_URL": ""}):
        await build_models(ModelSettings(), config, environ=environ).chat("mini", LABEL).ainvoke("hello")
    await build_models(ModelSettings(), config, environ=elsewhere).embed(["text"])
    assert [seen.headers["authorization"] for seen in script.requests] == ["Bearer none"] * 3


# --- Anthropic


@EACH
async def test_a_stream_that_nobody_reads_to_its_end_lets_its_connection_go(script: Script, provider: Provider) -> None:
    script.on().reply(say("one two three four five six seven", pace=0.01))
    models = build(script, provider)
    stream: Any = models.chat("mini", LABEL).astream("hello")
    assert await anext(stream) is not None
    await stream.aclose()
    pool: Any = open_client()._transport
    async with asyncio.timeout(2):
        while [connection for connection in pool._pool.connections if not connection.is_idle()]:
            await asyncio.sleep(0.01)
    assert (models.usage.labels[LABEL].calls, models.usage.labels[LABEL].cost) == (1, None)


async def test_anthropics_written_cache_has_its_price_and_is_no_cheap_input(script: Script) -> None:
    script.on().reply(written(say("Hello.", tokens=TokenCount(5_000, 100, cached=1_000)), 3_000))
    for stream in (False, True):
        models = build(script, ANTHROPIC)
        await ask(models, stream=stream)
        tally = models.usage.labels[LABEL]
        assert (tally.input_tokens, tally.cached_tokens) == (5_000, 1_000)
        assert tally.cost == pytest.approx((1_000 * 0.1 + 1_000 * 0.01 + 3_000 * 0.125 + 100 * 0.5) / 1e6)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (529, ModelUnavailableError),
        (429, ModelUnavailableError),
        (500, ModelUnavailableError),
        (400, ModelRequestError),
    ],
)
async def test_an_error_event_in_a_stream_is_what_its_status_would_have_been(
    script: Script, status: int, error: type[ModelError]
) -> None:
    script.on().reply(break_stream(say("one two three four five"), status, after=6))
    with pytest.raises(error) as raised:
        await ask(build(script, ANTHROPIC), stream=True)
    assert type(raised.value) is error


async def test_a_calls_effort_and_temperature_go_where_the_model_takes_them(script: Script) -> None:
    models = build(script, ANTHROPIC, reasoning_effort="low", temperature=0.3)
    await models.chat("mini", LABEL, max_tokens=512).ainvoke("hello")
    older = build(script, ANTHROPIC, model="claude-opus-4-6", temperature=0.3)
    await older.chat("mini", LABEL).ainvoke("hello")
    first, second = (seen.body for seen in script.requests)
    assert (first["output_config"], first["max_tokens"]) == ({"effort": "low"}, 512)
    assert "temperature" not in first
    assert second["temperature"] == 0.3
