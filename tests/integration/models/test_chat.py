"""Chat models over HTTP, on both wires, streamed and not."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from local.offline_model.wire.answers import TokenCount
from oria_runtime.models.client import Models
from oria_runtime.models.errors import (
    ModelAccessError,
    ModelIncompleteError,
    ModelMalformedError,
    ModelRefusalError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from tests.integration.models.conftest import BuildModels
from tests.support.scripted_model import (
    Script,
    Step,
    call,
    call_raw,
    cut,
    drop,
    end_early,
    fail,
    hang,
    malformed,
    refuse,
    say,
)

LABEL = "langgraph.career_chat_agent"
WIRES = pytest.mark.parametrize(
    ("responses", "endpoint"), [(False, "chat/completions"), (True, "responses")], ids=["completions", "responses"]
)


@tool
def search(query: str) -> str:
    """Search the catalogue."""
    return query


async def collect(models: Models, *, tools: bool = False) -> AIMessageChunk:
    chat: Any = models.chat("mini", LABEL)
    runnable = chat.bind_tools([search]) if tools else chat
    merged: AIMessageChunk | None = None
    async for chunk in runnable.astream("hello"):
        merged = chunk if merged is None else merged + chunk
    assert merged is not None
    return merged


async def listen(models: Models, heard: list[str]) -> None:
    async for chunk in models.chat("mini", LABEL).astream("hello"):
        heard.append(chunk.text)


@WIRES
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_arrives_and_its_usage_is_counted_under_its_label(
    script: Script, build: BuildModels, responses: bool, endpoint: str, stream: bool
) -> None:
    script.on(endpoint=endpoint).reply(say("Good morning to you.", tokens=TokenCount(1_000, 200, cached=400)))
    models = build(use_responses_api=responses)
    message = await collect(models) if stream else await models.chat("mini", LABEL).ainvoke("hello")
    assert message.text == "Good morning to you."
    assert script.count(label=LABEL, endpoint=endpoint) == 1
    assert models.usage.as_json()[LABEL] == {
        "calls": 1,
        "input_tokens": 1_000,
        "cached_tokens": 400,
        "output_tokens": 200,
        "cost": pytest.approx((600 * 0.1 + 400 * 0.01 + 200 * 0.5) / 1e6),
    }


@WIRES
@pytest.mark.parametrize("stream", [False, True])
async def test_a_tool_call_and_its_result_go_round(
    script: Script, build: BuildModels, responses: bool, endpoint: str, stream: bool
) -> None:
    script.on(tool="search").reply(call("search", query="python"), say("Found it."))
    models = build(use_responses_api=responses)
    chat: Any = models.chat("mini", LABEL)
    message = await collect(models, tools=True) if stream else await chat.bind_tools([search]).ainvoke("hello")
    assert [(made["name"], made["args"]) for made in message.tool_calls] == [("search", {"query": "python"})]
    made = AIMessage(content=message.content, tool_calls=message.tool_calls, id=message.id)
    history = [HumanMessage("hello"), made, ToolMessage("python", tool_call_id=message.tool_calls[0]["id"])]
    answer = await chat.bind_tools([search]).ainvoke(history)
    assert answer.text == "Found it."
    prompt = script.seen(endpoint=endpoint)[-1].prompt
    assert prompt is not None
    assert [entry.role for entry in prompt.messages] == ["user", "assistant", "tool"]


@WIRES
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (refuse(), ModelRefusalError),
        (cut(), ModelIncompleteError),
        (call_raw("search", '{"query": "pyth'), ModelMalformedError),
    ],
    ids=["refusal", "cut", "arguments"],
)
async def test_an_answer_that_is_none_raises(  # noqa: PLR0917
    script: Script, build: BuildModels, responses: bool, endpoint: str, stream: bool, step: Step, error: type[Exception]
) -> None:
    script.on(endpoint=endpoint).reply(step)
    models = build(use_responses_api=responses)
    with pytest.raises(error):
        await (collect(models) if stream else models.chat("mini", LABEL).ainvoke("hello"))
    assert len(script.requests) == 1


@WIRES
async def test_an_empty_answer_is_an_answer(script: Script, build: BuildModels, responses: bool, endpoint: str) -> None:
    script.on(endpoint=endpoint).reply(say(""))
    message = await build(use_responses_api=responses).chat("mini", LABEL).ainvoke("hello")
    assert message.text == ""


@WIRES
@pytest.mark.parametrize("body", [b'{"this is": no JSON', b"[]", b"null", b"{}", b'"text"', b""])
async def test_a_body_that_is_no_answer_is_malformed(
    script: Script, build: BuildModels, responses: bool, endpoint: str, body: bytes
) -> None:
    script.on(endpoint=endpoint).reply(malformed(body))
    with pytest.raises(ModelMalformedError):
        await build(use_responses_api=responses).chat("mini", LABEL).ainvoke("hello")


@WIRES
@pytest.mark.parametrize("fault", [drop, end_early], ids=["reset", "polite"])
async def test_a_stream_that_breaks_off_raises_after_what_it_said(
    script: Script, build: BuildModels, responses: bool, endpoint: str, fault: Any
) -> None:
    script.on(endpoint=endpoint).reply(fault(say("one two three four five six seven"), after=6))
    heard: list[str] = []
    with pytest.raises((ModelUnavailableError, ModelIncompleteError)):
        await listen(build(use_responses_api=responses), heard)
    assert "one" in "".join(heard)


@pytest.mark.parametrize(
    ("status", "error", "requests"),
    [
        (401, ModelAccessError, 1),
        (403, ModelAccessError, 1),
        (404, ModelAccessError, 1),
        (400, ModelRequestError, 1),
        (429, ModelUnavailableError, 3),
        (500, ModelUnavailableError, 3),
    ],
)
async def test_http_errors_are_retried_where_that_helps(
    script: Script, models: Models, status: int, error: type[Exception], requests: int
) -> None:
    script.on().reply(fail(status, retry_after=0.01))
    with pytest.raises(error):
        await models.chat("mini", LABEL).ainvoke("hello")
    assert len(script.requests) == requests


async def test_the_third_attempt_still_counts(script: Script, models: Models) -> None:
    script.queue(fail(503, retry_after=0.01), drop())
    assert (await models.chat("mini", LABEL).ainvoke("hello")).text
    assert len(script.requests) == 3
    assert models.usage.labels[LABEL].calls == 1


async def test_cancellation_passes_through_a_call(script: Script, models: Models) -> None:
    script.on().reply(hang())
    task = asyncio.create_task(models.chat("mini", LABEL).ainvoke("hello"))
    while not script.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_temperature_goes_only_to_models_that_take_one(script: Script, build: BuildModels) -> None:
    await build(temperature=0.2).chat("mini", LABEL).ainvoke("hello")
    await build(model="gpt-6-luna-2026-09-22").chat("mini", LABEL, temperature=0.3).ainvoke("hello")
    await build(model="gpt-4.1-mini", temperature=0.2).chat("mini", LABEL).ainvoke("hello")
    await build(model="gpt-4.1-mini", temperature=0.2).chat("mini", LABEL, temperature=0.0).ainvoke("hello")
    assert [seen.body.get("temperature") for seen in script.requests] == [None, None, 0.2, 0.0]


async def test_effort_and_output_budget_travel_on_both_wires(script: Script, build: BuildModels) -> None:
    for responses in (True, False):
        models = build(reasoning_effort="low", use_responses_api=responses)
        await models.chat("mini", LABEL, max_tokens=512).ainvoke("hello")
    first, second = (seen.body for seen in script.requests)
    assert (first["reasoning"], first["max_output_tokens"]) == ({"effort": "low"}, 512)
    assert (second["reasoning_effort"], second["max_completion_tokens"]) == ("low", 512)


async def test_a_history_of_the_responses_api_stays_on_it_without_tools(script: Script, models: Models) -> None:
    script.on(tool="search").reply(call("search", query="python"))
    chat: Any = models.chat("mini", LABEL)
    made = await chat.bind_tools([search]).ainvoke("hello")
    result = ToolMessage("python", tool_call_id=made.tool_calls[0]["id"])
    await chat.ainvoke([SystemMessage("Answer."), HumanMessage("hello"), made, result])
    assert [seen.endpoint for seen in script.requests] == ["responses", "responses"]


async def test_calls_share_their_connections(script: Script, models: Models) -> None:
    for _ in range(5):
        await models.chat("mini", LABEL).ainvoke("hello")
    assert script.connections == 1


async def test_a_deadline_ends_a_hanging_call_within_it(script: Script, models: Models) -> None:
    from pydantic import BaseModel

    class Title(BaseModel):
        title: str

    script.on().reply(hang())
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelTimeoutError):
        await models.structured(label="x", schema=Title, messages=[HumanMessage("hello")], timeout=0.3)
    assert asyncio.get_running_loop().time() - started < 1.0


async def test_the_environment_that_beats_the_base_url_is_not_followed(
    script: Script, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LANGSMITH_GATEWAY", "true")
    assert (await models.chat("mini", LABEL).ainvoke("hello")).text
    assert len(script.requests) == 1


async def test_a_missing_key_is_an_access_error_before_any_request(script: Script, build: BuildModels) -> None:
    models = build(environ={"OPENAI_BASE_URL": script.base_url})
    with pytest.raises(ModelAccessError):
        await models.chat("mini", LABEL).ainvoke("hello")
    assert not script.requests
