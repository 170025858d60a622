"""Structured answers over HTTP."""

from typing import TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from pydantic import BaseModel, Field

from local.offline_model.wire.answers import TokenCount
from oria_runtime.models.client import Models
from oria_runtime.models.errors import (
    ModelError,
    ModelIncompleteError,
    ModelMalformedError,
    ModelRefusalError,
    ModelUnavailableError,
)
from tests.integration.models.conftest import BuildModels
from tests.support.scripted_model import Script, Step, cut, drop, end_early, give, malformed, refuse, say


class Titled(TypedDict):
    title: str


BROKEN = malformed()


class Phase(BaseModel):
    title: str
    weeks: int = Field(ge=1)


class Plan(BaseModel):
    """A learning plan."""

    title: str
    phases: list[Phase]
    note: str | None = None


async def plan(models: Models) -> Plan:
    return await models.structured(
        label="training_finder.plan", schema=Plan, messages=[HumanMessage("Plan it.")], timeout=5, max_tokens=900
    )


@pytest.mark.parametrize("responses", [False, True])
async def test_a_schema_is_sent_strict_and_read_back(script: Script, build: BuildModels, responses: bool) -> None:
    script.on().reply(give({"title": "Python", "phases": [{"title": "Basics", "weeks": 2}], "note": None}))
    models = build(use_responses_api=responses)
    assert await plan(models) == Plan(title="Python", phases=[Phase(title="Basics", weeks=2)])
    (seen,) = script.requests
    assert seen.prompt is not None
    assert seen.prompt.max_tokens == 900
    assert seen.prompt.schema is not None
    assert seen.prompt.schema["required"] == ["title", "phases", "note"]
    assert seen.prompt.schema["additionalProperties"] is False
    assert models.usage.labels["training_finder.plan"].calls == 1


@pytest.mark.parametrize("responses", [False, True])
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (refuse(), ModelRefusalError),
        (cut('{"title": "Py'), ModelIncompleteError),
        (say("Here is your plan"), ModelMalformedError),
        (give({"title": "Python"}), ModelMalformedError),
        (give({"title": "Python", "phases": [{"title": "Basics", "weeks": 0}], "note": None}), ModelMalformedError),
        (BROKEN, ModelMalformedError),
    ],
)
async def test_an_answer_outside_the_schema_raises(
    script: Script, build: BuildModels, responses: bool, step: Step, error: type[ModelError]
) -> None:
    script.on().reply(step)
    models = build(use_responses_api=responses)
    with pytest.raises(error):
        await plan(models)
    assert len(script.requests) == 1
    paid = models.usage.labels.get("training_finder.plan")
    assert step is BROKEN or (paid is not None and paid.output_tokens > 0)


@pytest.mark.parametrize("responses", [False, True])
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (say('{"title": "Python", "phases": [], "note": null}', tokens=TokenCount(700, 90)), None),
        (refuse(), ModelRefusalError),
        (cut('{"title": "Py'), ModelIncompleteError),
        (say("Here is your plan"), ModelMalformedError),
        (drop(say("Here is your plan"), after=4), ModelUnavailableError),
        (end_early(say("Here is your plan"), after=4), ModelIncompleteError),
    ],
)
async def test_nothing_changes_when_the_graph_streams_its_messages(
    script: Script, build: BuildModels, responses: bool, step: Step, error: type[ModelError] | None
) -> None:
    """Under `stream_mode="messages"` LangGraph makes every model call of the run a stream."""
    script.on().reply(step)
    models = build(use_responses_api=responses)
    caught: list[ModelError] = []

    async def node(state: Titled) -> Titled:
        try:
            return {"title": (await plan(models)).title}
        except ModelError as raised:
            caught.append(raised)
            return {"title": ""}

    graph = StateGraph(Titled).add_node("node", node).add_edge(START, "node").compile()
    async for _ in graph.astream({"title": ""}, stream_mode="messages"):
        pass
    assert [type(raised) for raised in caught] == ([error] if error else [])
    assert script.requests[0].body["stream"] is True
    if error is None:
        paid = models.usage.labels["training_finder.plan"]
        assert (paid.calls, paid.input_tokens, paid.output_tokens) == (1, 700, 90)
        assert paid.cost == pytest.approx((700 * 0.1 + 90 * 0.5) / 1e6)
