"""Logs correlated by turn and request, metrics as EMF, and no message text in either."""

import json
from collections.abc import Iterator
from io import StringIO
from logging import StreamHandler
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from oria_runtime.observability import count, describe, get_tracer, instrument, logger

CONTEXT = SimpleNamespace(aws_request_id="r-1", function_name="GateFunction")
EVENT = {"detail": {"tenant_id": "t", "turn_id": str(uuid4()), "seq": 2, "stage": "gate"}}


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the logger writes to standard output."""
    stream = StringIO()
    handler = logger.registered_handler
    assert isinstance(handler, StreamHandler)
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)


@pytest.mark.parametrize("event", [EVENT, {"requestPayload": EVENT}])
def test_log_lines_carry_the_ids_of_the_event_and_the_request(log: StringIO, event: dict[str, Any]) -> None:
    @instrument
    def handler(event: Any, context: Any) -> str:
        logger.info("inside")
        return "done"

    assert handler(event, CONTEXT) == "done"
    logger.info("outside")
    line, outside = lines(log.getvalue())
    assert line | {"request_id": "r-1", "function": "GateFunction", **EVENT["detail"]} == line
    assert "turn_id" not in outside


def test_a_metric_is_one_emf_line_with_its_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    count("turns", outcome="completed", assistant="oria")
    (line,) = lines(capsys.readouterr().out)
    assert line["turns"] == [1.0]
    assert (line["outcome"], line["assistant"]) == ("completed", "oria")
    assert line["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [{"Name": "turns", "Unit": "Count"}]


def test_an_error_is_described_by_types_and_place_without_its_text() -> None:
    try:
        try:
            raise ValueError("a secret of the conversation")
        except ValueError as cause:
            raise RuntimeError("quoting it") from cause
    except RuntimeError as error:
        described = describe(error)
    assert described["error"] == ["RuntimeError", "ValueError"]
    assert described["at"].startswith("test_observability.py:")
    assert "secret" not in str(described)


def test_a_sampled_request_is_traced_with_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1")
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "true")
    get_tracer.cache_clear()

    @instrument
    def handler(event: Any, context: Any) -> str:
        return "traced"

    assert handler(EVENT, CONTEXT) == "traced"
    assert get_tracer.cache_info().currsize == 1
    get_tracer.cache_clear()
