"""Labelled messages. One JSON object a line: `{id, language, message, expected, recent?, current_agent?, plan?}`.

They are ours, and none of them may appear in a prompt or in the offline model: a test compares.

`routing_hard` and `routing_held_out` are indirect messages without the words of the agents' descriptions, each written
before any result of it was seen. Descriptions, examples and the offline model were improved by looking at mistakes in
the first; the second was only ever counted, and says what they are worth on messages that nobody has looked at.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A message, what came before it (`{role: user | assistant, text}`, oldest first), and the right answer.

    `current_agent` is who answered last; `plan` says that a request to the Training Finder is one for a learning plan.
    """

    id: str
    language: str
    message: str
    expected: str
    recent: Sequence[dict[str, str]] = ()
    current_agent: str | None = None
    plan: bool = False


NAMES = ("routing", "routing_hard", "routing_held_out", "clarification", "gate", "memory")


def load_cases(name: str) -> list[Case]:
    """The cases of `<name>.ndjson`."""
    lines = (FOLDER / f"{name}.ndjson").read_text(encoding="utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def load_gate_cases() -> list[Case]:
    """The gate's own cases, and every routing case as the ordinary message that it is."""
    return [*load_cases("gate"), *(replace(case, expected="allow") for case in load_cases("routing"))]
