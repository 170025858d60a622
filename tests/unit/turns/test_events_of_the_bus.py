"""What arrives on the bus and from Lambda's destinations is parsed or refused, never half-understood."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oria_runtime.errors import InvalidRequestError
from oria_runtime.turns.claim import StageEvent
from oria_runtime.turns.failures import KILLED, FailureRecord
from oria_runtime.turns.memory_runner import ApprovedEvent

IDS = {"tenant_id": str(UUID(int=1)), "turn_id": str(UUID(int=2))}
STAGE = {"detail-type": "turn.stage", "detail": IDS | {"seq": 1, "stage": "gate"}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(json_values)
def test_anything_else_is_an_invalid_request(value: Any) -> None:
    for parse in (StageEvent.from_bus, ApprovedEvent.from_bus, FailureRecord.from_destination):
        with pytest.raises(InvalidRequestError):
            parse(value)


@pytest.mark.parametrize("change", [{"seq": "1"}, {"seq": True}, {"seq": 1.0}, {"stage": 3}, {"turn_id": "x"}])
def test_a_stage_event_of_wrong_types_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        StageEvent.from_bus({"detail": STAGE["detail"] | change})  # type: ignore[operator]


def test_a_record_of_a_kill_is_known_by_its_message() -> None:
    record = FailureRecord.from_destination(
        {
            "requestContext": {"requestId": "r", "condition": "RetriesExhausted"},
            "requestPayload": STAGE,
            "responsePayload": {"errorMessage": "2026-01-01T00:00:00Z r Task timed out after 15.00 seconds"},
        }
    )
    assert record.error_type == KILLED
    assert record.event is not None
    assert record.event.seq == 1


def test_a_record_without_a_response_is_understood() -> None:
    context = {"requestId": "r", "condition": "EventAgeExceeded"}
    record = FailureRecord.from_destination({"requestContext": context, "requestPayload": STAGE})
    assert (record.condition, record.error_type) == ("EventAgeExceeded", "")
