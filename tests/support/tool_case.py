"""What the table of tools is made of: columns, calls with what must come of them, and holes with their reasons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.support.engine import USER
from tests.support.scripted_model import Script

SUCCESS, MISS, DATABASE, MODEL = "success", "miss", "database", "model"
MALFORMED, EXCLUDED, RESUMED, CANCELLED = "malformed", "excluded", "resumed", "cancelled"
COLUMNS = (SUCCESS, MISS, DATABASE, MODEL, MALFORMED, EXCLUDED, RESUMED, CANCELLED)
# The property of a test's report that holds agent, tool, column and what was seen.
CELL = "tool_cell"
# The columns that may have a hole, and what its reason claims. A test tries each claim.
CLAIMS: Mapping[str, str] = {
    DATABASE: "reads no database",
    MODEL: "asks no model",
    RESUMED: "never pauses",
}


@dataclass(frozen=True)
class Hole:
    """Why a column does not apply to a tool, as the end of "it …, because …" after the column's claim."""

    because: str


@dataclass(frozen=True)
class Ask:
    """One call of a tool and what must come of it.

    Attributes:
        arguments: what the model gives.
        says: the whole text of an error result; a part of any other result.
        status: of the result message.
        card: type of the card that the person gets, "" for a delivered text without one, None when nothing is
            delivered and the agent itself answers.
        interactions: whether the person can be asked.
        user: who asks.
    """

    arguments: Mapping[str, Any]
    says: str = ""
    status: Literal["success", "error"] = "success"
    card: str | None = None
    interactions: bool = True
    user: str = USER


@dataclass(frozen=True)
class Pause:
    """A call that asks the person.

    Attributes:
        ask: the call, and what must come of it after the answers.
        answers: one for each question.
        labels: how often each task is asked for after the answers; whatever else a call needs was done before them.
        reads: transactions of the tool after the answers.
        failing: answers after which a failing model leaves the agent at work, so that its new allowance can be seen.
    """

    ask: Ask
    answers: Sequence[Mapping[str, Any]]
    labels: Mapping[str, int] = field(default_factory=dict)
    reads: int = 0
    failing: Sequence[Mapping[str, Any]] = ()


def prepare_nothing(script: Script) -> None:
    """The scripted model's own defaults will do."""


@dataclass(frozen=True)
class ToolCase:
    """The row of a tool, the same for every agent that has it. The columns that are not here are derived from these."""

    tool: str
    success: Ask | Pause
    miss: Ask
    database: Ask | Hole
    model: Ask | Hole
    pause: Pause | Hole
    prepare: Callable[[Script], None] = field(default=prepare_nothing)
    # Where it works, and what of the database it needs, "" for all: what its agent needs too must stay there.
    stage: str = "specialist"
    table: str = ""

    def find_hole(self, column: str) -> Hole | None:
        """The hole of this column, if it has one."""
        stated = {DATABASE: self.database, MODEL: self.model, RESUMED: self.pause}.get(column)
        return stated if isinstance(stated, Hole) else None


def spoil_arguments(tool: BaseTool) -> list[dict[str, Any]]:
    """Calls that the tool's own schema refuses: each argument of the wrong kind, and none of those that it needs."""
    described = convert_to_openai_tool(tool)["function"]["parameters"]
    names = list(described.get("properties", {}))
    wrong: dict[str, Any] = {name: {"of": ["the wrong", "kind"]} for name in names}
    return [*([wrong] if names else []), *([{}] if described.get("required") else [])]
