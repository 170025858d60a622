"""The role-play so far, from the conversation's transcript and turns.

The transcript is the only history of a simulation: it is complete, it is committed with the turn, and what was blocked
or failed in it is told apart by its turn. A copy in the thread would have to be kept in step with all of that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from graph.oria.window import cut_window
from graph.policy import TRIM_MESSAGES, TRIM_TOKENS
from graph.simulation.budget import Budget, plan_budget
from graph.simulation.scenario import Scenario, read_scenario
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.simulations import read_start

Speaker = Literal["person", "counterpart"]

# A turn that failed or was stopped by the gate is no part of the role-play; the turn at work has said nothing yet.
READ_LINES_SQL = """
select m.role, m.text, t.created_at
from messages m join turns t on t.id = m.turn_id
where m.tenant_id = %(tenant)s and m.conversation_id = %(conversation)s and t.id <> %(turn)s
    and t.user_id = %(user)s and t.status = 'completed'
order by m.position
"""


@dataclass(frozen=True)
class Line:
    """Something that was said."""

    speaker: Speaker
    text: str


@dataclass(frozen=True)
class Practice:
    """A simulation in progress: its scenario, what was said before this turn, and when it began.

    `lines` begin with the counterpart's opening line. `exchanges` counts the person's messages among them.
    """

    simulation_id: UUID
    scenario: Scenario
    lines: Sequence[Line]
    exchanges: int
    started_at: datetime

    @property
    def budget(self) -> Budget:
        return plan_budget(self.scenario.minutes)


async def read_practice(context: TurnContext) -> Practice:
    """Raises StageFailedError when the conversation was not started with a simulation."""
    turn = context.turn
    parameters = {
        "tenant": context.database.tenant_id,
        "conversation": turn.conversation_id,
        "turn": turn.id,
        "user": turn.user_id,
    }
    async with context.database.transaction() as connection:
        start = await read_start(connection, context.database.tenant_id, turn.conversation_id)
        rows = await (await connection.execute(READ_LINES_SQL, parameters)).fetchall()
    if start is None:
        raise StageFailedError("no_simulation", "the conversation was started without one", retryable=False)
    return build_practice(start, rows, turn.created_at)


def build_practice(start: Any, rows: Sequence[Any], now: datetime) -> Practice:
    """The practice of a conversation's `start` and the rows of its transcript; without any it begins `now`."""
    scenario = read_scenario(start["scenario"])
    said = [Line("person" if row["role"] == "user" else "counterpart", row["text"]) for row in rows]
    return Practice(
        simulation_id=UUID(start["simulation_id"]),
        scenario=scenario,
        lines=[Line("counterpart", scenario.opening_line), *said],
        exchanges=sum(line.speaker == "person" for line in said),
        started_at=rows[0]["created_at"] if rows else now,
    )


def write_window(practice: Practice, message: str) -> list[AnyMessage]:
    """What the counterpart's model reads: the opening line, then the newest whole exchanges up to this message."""
    opening, *said = practice.lines
    messages: list[AnyMessage] = [*(write_line(line) for line in said), HumanMessage(message)]
    return [write_line(opening), *cut_window(messages, TRIM_MESSAGES, TRIM_TOKENS)]


def write_line(line: Line) -> AnyMessage:
    return HumanMessage(line.text) if line.speaker == "person" else AIMessage(line.text)
