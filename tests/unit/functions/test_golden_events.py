"""The golden events are what the functions' own parsers take, and the README lists them all."""

import re

import pytest

from local.packaging.requirements import ROOT
from oria_runtime.errors import InvalidRequestError
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.failures import KILLED, FailureRecord
from oria_runtime.turns.memory_runner import ApprovedEvent
from tests.support.events import EVENTS, REQUEST_ID, SOURCE_ID, TENANT_ID, TURN_ID, list_cases, load_event
from tests.support.template import read_source

STAGES = ("gate", "supervisor", "specialist", "knowledge")


def cases(function: str, *, wrong: bool) -> list[str]:
    return [case for case in list_cases(function) if ("/wrong_" in case) is wrong]


@pytest.mark.parametrize("case", cases("stage", wrong=False))
def test_stage_events_name_a_turn_and_a_stage(case: str) -> None:
    event = StageEvent.from_bus(load_event(case))
    assert (str(event.tenant_id), str(event.turn_id)) == (TENANT_ID, TURN_ID)
    assert event.stage in STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_stage_events_match_the_rule_of_their_function(stage: str) -> None:
    event = load_event(f"stage/{stage}")
    resources = read_source()["Resources"]
    pattern = resources[f"{stage.capitalize()}Function"]["Properties"]["Events"]["Dispatched"]["Properties"]["Pattern"]
    assert event["source"] in pattern["source"]
    assert event["detail-type"] in pattern["detail-type"]
    assert event["detail"]["stage"] in pattern["detail"]["stage"]


def test_a_duplicate_differs_by_its_event_id_only() -> None:
    for first, second in (("stage/gate", "stage/duplicate"), ("memory/approved", "memory/duplicate")):
        one, other = load_event(first), load_event(second)
        assert one.pop("id") != other.pop("id")
        assert one == other


@pytest.mark.parametrize("case", cases("stage", wrong=True))
def test_wrong_stage_events_are_refused(case: str) -> None:
    with pytest.raises(InvalidRequestError):
        StageEvent.from_bus(load_event(case))


@pytest.mark.parametrize("case", cases("memory", wrong=True))
def test_wrong_memory_events_are_refused(case: str) -> None:
    with pytest.raises(InvalidRequestError):
        ApprovedEvent.from_bus(load_event(case))


@pytest.mark.parametrize("case", cases("turn_failed", wrong=False))
def test_failure_records_say_what_failed(case: str) -> None:
    record = FailureRecord.from_destination(load_event(case))
    assert record.request_id == REQUEST_ID
    assert (record.error_type == KILLED) is case.endswith("_timeout")
    assert (record.event is None) is (case == "turn_failed/memory_timeout")


@pytest.mark.parametrize("case", cases("turn_failed", wrong=True))
def test_wrong_failure_records_are_refused(case: str) -> None:
    with pytest.raises(InvalidRequestError):
        FailureRecord.from_destination(load_event(case))


@pytest.mark.parametrize("case", ["source", "duplicate"])
def test_refresh_messages_name_a_source(case: str) -> None:
    (record,) = load_event(f"refresh_source/{case}")["Records"]
    message = RefreshMessage.from_body(record["body"])
    assert (str(message.tenant_id), str(message.source_id), message.index_id) == (TENANT_ID, SOURCE_ID, None)
    assert message.as_body() == record["body"]


def test_refresh_messages_name_an_index_version() -> None:
    (record,) = load_event("refresh_source/index")["Records"]
    message = RefreshMessage.from_body(record["body"])
    assert message.index_id is not None
    assert message.source_id is None
    assert message.as_body() == record["body"]


@pytest.mark.parametrize("case", cases("refresh_source", wrong=True))
def test_wrong_refresh_messages_are_refused(case: str) -> None:
    (record,) = load_event(case)["Records"]
    with pytest.raises(InvalidRequestError):
        RefreshMessage.from_body(record["body"])


def test_the_loader_puts_real_ids_into_an_event() -> None:
    event = load_event("turn_failed/gate_timeout", tenant_id="t", turn_id="u", request_id="r")
    assert event["requestContext"]["requestId"] == "r"
    assert event["requestPayload"]["detail"] == {"tenant_id": "t", "turn_id": "u", "seq": 1, "stage": "gate"}


def test_bus_events_hold_ids_and_nothing_else() -> None:
    allowed = {"tenant_id", "turn_id", "seq", "stage"}
    for case in (*cases("stage", wrong=False), *cases("memory", wrong=False)):
        assert set(load_event(case)["detail"]) <= allowed, case


def test_the_readme_lists_every_case() -> None:
    text = (EVENTS / "README.md").read_text(encoding="utf-8")
    patterns = [re.escape(name).replace(r"\*", "[a-z0-9_]*") for name in re.findall(r"`([a-z_]+/[a-z0-9_*]+)`", text)]
    for path in EVENTS.glob("*/*.json"):
        case = f"{path.parent.name}/{path.stem}"
        assert any(re.fullmatch(pattern, case) for pattern in patterns), f"{case} is not in events/README.md"


def test_every_function_has_golden_events() -> None:
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/requirements.txt")}
    assert {path.name for path in EVENTS.iterdir() if path.is_dir()} == functions


def test_events_hold_no_token_and_no_real_account() -> None:
    for path in EVENTS.glob("*/*.json"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\b\d{12}\b(?!-)", text)) <= {"123456789012"}, path
        assert not re.search(r"Bearer (?!TOKEN)", text), path
