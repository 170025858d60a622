"""Batches of progress."""

from oria_runtime.turns.models import Event, EventType
from oria_runtime.turns.progress_log import merge_deltas


def delta(text: str) -> Event:
    return Event(EventType.MESSAGE_DELTA, {"text": text})


def test_neighbouring_deltas_become_one_event_and_the_order_stays() -> None:
    started = Event(EventType.ACTIVITY_STARTED, {"name": "search"})
    merged = merge_deltas([delta("a"), delta("b"), started, delta("c"), delta("d"), delta("e")])
    assert [event.data.get("text") for event in merged] == ["ab", None, "cde"]
