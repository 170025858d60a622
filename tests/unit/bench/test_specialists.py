"""The benchmark of the specialists: its script fits the product, and its rows say what was measured."""

import json
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel

from graph.oria.agents import SPECIALISTS
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria
from graph.oria.tools.profile_analysis.narrative import WrittenCopy
from graph.oria.tools.profile_analysis.objectives import WrittenObjectives
from graph.oria.tools.rationales import Rationales
from graph.oria.tools.simulation.brief import Brief
from graph.oria.tools.simulation.drafting import Draft
from local.bench.counting_proxy import CountingProxy
from local.bench.requests import REQUESTS, SIMULATION, WRITTEN, Request
from local.bench.scripted_model import AFTER_CONFIRMATION, TEXT, ScriptedBrain, choose, find_request
from local.bench.specialists import COUNTED, MEMORY, WithoutMemory, check_outcome, sum_stage, write_counts, write_times
from local.bench.testbed import BenchError, TurnTimes
from local.offline_model.wire.decisions import Question
from local.offline_model.wire.prompts import Message, Prompt, Tool

SCHEMAS: list[type[BaseModel]] = [
    OpportunitySearchCriteria,
    Rationales,
    WrittenCopy,
    WrittenObjectives,
    Brief,
    Draft,
]
TOOL_REQUESTS = [request for request in REQUESTS if request.tool]


def prompt(*messages: Message, tools: tuple[str, ...] = (), **given: Any) -> Prompt:
    offered = [Tool(name, "", {}) for name in tools]
    return Prompt("chat/completions", "m", messages, tools=offered, **given)


def test_every_specialist_and_the_counterpart_are_measured() -> None:
    assert {request.agent for request in REQUESTS if request.agent} == set(SPECIALISTS)
    assert any(request.assistant == SIMULATION for request in REQUESTS)


def test_no_message_is_part_of_another() -> None:
    for request in REQUESTS:
        assert find_request(f"before {request.message} after") is request
    with pytest.raises(LookupError):
        find_request("Something else")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
async def test_a_structured_answer_is_an_instance_of_its_schema(schema: type[BaseModel]) -> None:
    asked = prompt(Message("user", "x"), schema=schema.model_json_schema(), schema_name=schema.__name__)
    schema.model_validate_json((await ScriptedBrain().answer(asked)).text)


def test_no_structured_answer_is_for_an_unknown_schema() -> None:
    assert set(WRITTEN) == {schema.__name__ for schema in SCHEMAS}


@pytest.mark.parametrize("request_", TOOL_REQUESTS, ids=lambda request: request.name)
async def test_the_tool_is_called_once_and_then_answered(request_: Request) -> None:
    said = Message("user", request_.message)
    [call] = (await ScriptedBrain().answer(prompt(said, tools=(request_.tool, "other")))).tool_calls
    assert (call.name, json.loads(call.arguments)) == (request_.tool, request_.arguments)
    result = Message("tool", "{}", tool_call_id=call.id)
    assert (await ScriptedBrain().answer(prompt(said, result, tools=(request_.tool,)))).text == TEXT
    assert (await ScriptedBrain().answer(prompt(said, tools=("other",)))).text == TEXT


def test_decisions_let_the_request_go_on_and_route_it() -> None:
    request = TOOL_REQUESTS[0]
    agents = Question("choice", "destination", "", dict.fromkeys(SPECIALISTS, ""))
    gate = Question("choice", "decision", "", {"block": "", "allow": ""})
    assert choose(agents, request.message)["choice"] == request.agent
    assert choose(agents, f'{request.message} "confirmed_person"')["choice"] == AFTER_CONFIRMATION
    assert choose(gate, "anything")["choice"] == "allow"


def test_memory_alone_is_not_delivered() -> None:
    assert not WithoutMemory().plan("event", f"arn:aws:lambda:x:1:function:oria-{MEMORY}", {})
    assert WithoutMemory().plan("event", "arn:aws:lambda:x:1:function:oria-GateFunction", {}) == (0.0,)


def test_a_stage_that_is_entered_twice_is_summed_and_a_missing_one_is_empty() -> None:
    steps = [{"gate → specialist": 0.2, "specialist → gate": 0.1, "specialist → run.completed": 0.3}]
    assert [sum_stage(steps, stage) for stage in ("gate", "supervisor", "specialist")] == ["200 ms", "", "400 ms"]


def test_a_row_shows_the_turn_its_stages_and_the_calls() -> None:
    times = [TurnTimes(uuid4(), 0.01, 0.5, {"run.accepted → gate": 0.1, "gate → run.completed": 0.4})]
    assert write_times("x", times, 3) == ["x", "500 ms", "500 ms", "400 ms", "", "", "3"]


@pytest.mark.parametrize("outcome", [{"type": "boundary", "text": "No."}, {"type": "message", "text": "Error: no."}])
def test_a_turn_that_did_something_else_gives_no_figures(outcome: dict[str, str]) -> None:
    with pytest.raises(BenchError):
        check_outcome(REQUESTS[0], {"outcome": outcome})


def test_counts_are_those_of_one_turn() -> None:
    proxy = CountingProxy()
    assert write_counts(proxy) == ""
    for _ in range(3 * COUNTED):
        proxy.wire.count("select 1")
    proxy.wire.round_trips = 2 * COUNTED
    assert write_counts(proxy) == "3.0 / 2.0"
