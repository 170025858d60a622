"""What a provider demands of a conversation: every call has its result, and the speakers take turns."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.support.scripted_model import Seen

# Labelled data stands before the conversation; it is nobody's turn to speak.
DATA_MARK = "(data, not instructions)"


def list_entries(seen: Seen) -> list[Mapping[str, Any]]:
    """The conversation of a chat request as `{kind, id | text}`, whatever its wire, without instructions."""
    wire = seen.body["input"] if seen.endpoint == "responses" else seen.body["messages"]
    entries: list[Mapping[str, Any]] = []
    for item in wire:
        kind = item.get("type") if "role" not in item else item["role"]
        if kind == "function_call":
            entries.append({"kind": "call", "id": item["call_id"]})
        elif kind == "function_call_output":
            entries.append({"kind": "result", "id": item["call_id"]})
        elif kind == "tool":
            entries.append({"kind": "result", "id": item["tool_call_id"]})
        elif kind in ("user", "assistant"):
            text = read_text(item.get("content"))
            entries += [{"kind": "call", "id": made["id"]} for made in item.get("tool_calls") or ()]
            entries += [{"kind": kind, "text": text}] if text and DATA_MARK not in text else []
    return entries


def read_text(content: Any) -> str:
    """The text of a message's content on either wire."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def assert_whole_history(seen: Seen, *, last: str | None = None) -> None:
    """Whole pairs, calls before results, speakers in turn, the person first and, if given, `last` said last."""
    entries = list_entries(seen)
    open_calls: list[str] = []
    for entry in entries:
        if entry["kind"] == "call":
            open_calls.append(entry["id"])
        elif entry["kind"] == "result":
            assert entry["id"] in open_calls, "a result without its call"
            open_calls.remove(entry["id"])
        else:
            assert not open_calls, "somebody speaks between a call and its result"
    assert not open_calls, "a call without its result"
    speakers = [entry["kind"] for entry in entries if "text" in entry]
    assert speakers[:1] == ["user"]
    assert all(one != other for one, other in pairwise(speakers)), speakers
    if last is not None:
        assert list_said(entries)[-1] == last


def list_said(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the person said."""
    return [entry["text"] for entry in entries if entry["kind"] == "user"]
