"""Structured answers over HTTP."""

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from oria_runtime.models.client import Models
from oria_runtime.models.errors import ModelError, ModelIncompleteError, ModelMalformedError, ModelRefusalError
from tests.integration.models.conftest import BuildModels
from tests.support.scripted_model import Script, Step, cut, give, malformed, refuse, say


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
        (malformed(), ModelMalformedError),
    ],
)
async def test_an_answer_outside_the_schema_raises(
    script: Script, build: BuildModels, responses: bool, step: Step, error: type[ModelError]
) -> None:
    script.on().reply(step)
    with pytest.raises(error):
        await plan(build(use_responses_api=responses))
    assert len(script.requests) == 1
