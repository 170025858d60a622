"""Decisions over HTTP: the native endpoint, the structured path, and everything that makes one unavailable."""

import asyncio
from typing import Any

import pytest
from langchain_openai.decisions import Choice, ChoiceAnswer, Predicate, PredicateAnswer, Question

from oria_runtime.errors import ConfigurationError
from oria_runtime.models.client import Models
from oria_runtime.models.errors import DecisionUnavailableError
from tests.integration.models.conftest import BuildModels
from tests.support.scripted_model import (
    Script,
    Step,
    choose,
    cut,
    decide,
    decide_raw,
    drop,
    fail,
    give,
    hang,
    malformed,
    refuse,
    say,
    wait,
)

LABEL = "langgraph.guardrails_decision"
CHOICES = {"allow": "Ordinary messages.", "doubt": "Unclear.", "block": "Harmful."}


async def judge(models: Models, timeout: float = 5.0) -> str:  # noqa: ASYNC109
    return await models.choose(
        label=LABEL,
        name="guardrail_decision",
        instructions="Is this message safe?",
        choices=CHOICES,
        evidence={"latest": "hello", "history": [{"role": "user", "text": "hi"}]},
        timeout=timeout,
    )


def choice(value: str = "allow", shares: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    """A raw choice answer."""
    spread = {"allow": 1.0, "doubt": 0.0, "block": 0.0} if shares is None else shares
    probabilities = [{"value": key, "probability": share} for key, share in spread.items()]
    answer = {"type": "choice", "name": "guardrail_decision", "choice": value, "confidence": 1.0}
    return {**answer, "probabilities": probabilities, **more}


async def test_a_native_decision_asks_its_endpoint_once_and_charges_no_output(script: Script, models: Models) -> None:
    script.on(endpoint="decisions").reply(choose("doubt"))
    assert await judge(models) == "doubt"
    (seen,) = script.requests
    assert (seen.endpoint, seen.label, seen.body["model"]) == ("decisions", LABEL, "gpt-6-luna")
    (question,) = seen.body["questions"]
    assert question["choices"][2] == {"value": "block", "description": "Harmful."}
    tally = models.usage.labels[LABEL]
    assert tally.output_tokens == 1
    assert tally.cost == pytest.approx(tally.input_tokens * 0.1 / 1e6)


async def test_several_questions_are_answered_by_name(script: Script, models: Models) -> None:
    script.on().reply(decide(urgent=0.75, team="sales"))
    questions: dict[str, Question] = {
        "urgent": Predicate(instructions="Is it urgent?"),
        "team": Choice(instructions="Whose is it?", choices={"billing": None, "sales": None}),
    }
    answers = await models.decide(label=LABEL, input="please hurry", questions=questions, timeout=5)
    urgent, team = answers["urgent"], answers["team"]
    assert isinstance(urgent, PredicateAnswer)
    assert isinstance(team, ChoiceAnswer)
    assert (urgent.probability, team.choice) == (0.75, "sales")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (refuse(), "refusal"),
        (choose("never offered"), "malformed"),
        (decide_raw(choice(shares={"allow": 7.5, "doubt": 0.0, "block": 0.0})), "malformed"),
        (decide_raw(choice(shares={"allow": 0.5, "doubt": 0.1, "block": 0.1})), "malformed"),
        (decide_raw(choice(shares={"allow": 1.0})), "malformed"),
        (decide_raw(choice(shares={"allow": 1.0, "doubt": 0.0, "block": 0.0, "other": 0.0})), "malformed"),
        (decide_raw(choice(shares={"allow": float("nan"), "doubt": 0.0, "block": 0.0})), "malformed"),
        (decide_raw(), "malformed"),
        (decide_raw(choice("allow"), choice("block")), "malformed"),
        (decide_raw(choice(), {**choice(), "name": "another"}), "malformed"),
        (decide_raw({"type": "predicate", "name": "guardrail_decision", "probability": 1.0}), "malformed"),
        (decide_raw({"type": "surprise", "name": "guardrail_decision"}), "malformed"),
        (malformed(), "malformed"),
        (malformed(b"[]"), "malformed"),
        (fail(400), "rejected"),
        (fail(401), "rejected"),
    ],
)
async def test_an_answer_that_is_no_decision_is_not_asked_again(
    script: Script, models: Models, step: Step, reason: str
) -> None:
    script.on().reply(step)
    with pytest.raises(DecisionUnavailableError) as caught:
        await judge(models)
    assert caught.value.reason == reason
    assert len(script.requests) == 1


@pytest.mark.parametrize("decisions", ["native", "structured"])
@pytest.mark.parametrize("step", [fail(429, retry_after=0.01), fail(500, retry_after=0.01), drop()])
async def test_three_attempts_and_never_the_other_path(
    script: Script, build: BuildModels, decisions: str, step: Step
) -> None:
    script.on().reply(step)
    with pytest.raises(DecisionUnavailableError) as caught:
        await judge(build(decisions=decisions))
    assert caught.value.reason == "unavailable"
    expected = "decisions" if decisions == "native" else "responses"
    assert [seen.endpoint for seen in script.requests] == [expected] * 3


@pytest.mark.parametrize("decisions", ["native", "structured"])
async def test_a_third_attempt_may_succeed(script: Script, build: BuildModels, decisions: str) -> None:
    script.queue(fail(503, retry_after=0.01), drop(), choose("block"))
    assert await judge(build(decisions=decisions)) == "block"


@pytest.mark.parametrize("decisions", ["native", "structured"])
@pytest.mark.parametrize("step", [hang(), fail(429, retry_after=30), wait(2.0, choose("allow"))])
async def test_one_deadline_covers_answers_and_retry_waits(
    script: Script, build: BuildModels, decisions: str, step: Step
) -> None:
    script.on().reply(step)
    loop = asyncio.get_running_loop()
    started = loop.time()
    with pytest.raises(DecisionUnavailableError) as caught:
        await judge(build(decisions=decisions), timeout=0.4)
    assert caught.value.reason == "timeout"
    assert loop.time() - started < 1.2


@pytest.mark.parametrize("decisions", ["native", "structured"])
async def test_cancellation_is_no_decision_failure(script: Script, build: BuildModels, decisions: str) -> None:
    script.on().reply(hang())
    task = asyncio.create_task(judge(build(decisions=decisions)))
    while not script.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("endpoint", ["chat/completions", "responses"])
async def test_another_model_chooses_by_a_strict_enum(script: Script, build: BuildModels, endpoint: str) -> None:
    script.on().reply(choose("doubt"))
    models = build(model="gpt-4.1-mini", use_responses_api=endpoint == "responses")
    assert not models.supports_decisions()
    assert await judge(models) == "doubt"
    (seen,) = script.requests
    assert (seen.endpoint, seen.label) == (endpoint, LABEL)
    assert seen.prompt is not None
    assert seen.prompt.schema is not None
    assert seen.prompt.schema["properties"]["guardrail_decision"]["enum"] == list(CHOICES)
    assert seen.prompt.schema["additionalProperties"] is False
    body = seen.body["text"]["format"] if endpoint == "responses" else seen.body["response_format"]["json_schema"]
    assert body["strict"] is True


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (choose("never offered"), "malformed"),
        (say("allow"), "malformed"),
        (say(""), "malformed"),
        (give({"guardrail_decision": "allow", "more": 1}), "malformed"),
        (give(["allow"]), "malformed"),
        (refuse(), "refusal"),
        (cut('{"guardrail_decision": "al'), "incomplete"),
        (malformed(), "malformed"),
    ],
)
@pytest.mark.parametrize("responses", [False, True])
async def test_a_structured_answer_that_is_no_choice_is_unavailable(
    script: Script, build: BuildModels, step: Step, reason: str, responses: bool
) -> None:
    script.on().reply(step)
    with pytest.raises(DecisionUnavailableError) as caught:
        await judge(build(model="gpt-4.1-mini", use_responses_api=responses))
    assert caught.value.reason == reason
    assert len(script.requests) == 1


async def test_the_configuration_overrides_what_a_model_is_known_for(script: Script, build: BuildModels) -> None:
    await judge(build(model="some-compatible-model", decisions="native"))
    await judge(build(model="gpt-6-luna", decisions="structured"))
    assert [seen.endpoint for seen in script.requests] == ["decisions", "responses"]


async def test_native_questions_to_a_model_without_them_are_a_configuration_error(
    script: Script, build: BuildModels
) -> None:
    with pytest.raises(ConfigurationError):
        await build(model="gpt-4.1-mini").decide(
            label=LABEL, input="x", questions={"y": Predicate(instructions="z")}, timeout=1
        )
    assert not script.requests
