"""Simulations for tests: what scripted models draft and judge, and an engine that suggests, starts and plays them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from graph.oria.tools.suggest_simulation import NAME
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Turn
from oria_runtime.turns.simulations import start_simulation
from tests.support.engine import USER
from tests.support.oria_engine import CAREER_CHAT, SUPERVISOR, OriaEngine
from tests.support.scripted_model import Script, call, choose, give, say

PARSE = "suggest_simulation.parse"
DRAFT = "suggest_simulation.scenario"
COUNTERPART = "simulation.counterpart"
ASSESSMENT = "simulation.assessment"
AGENT = CAREER_CHAT

BRIEF = {
    "situation": "A report came late.",
    "counterpart_role": "colleague",
    "goal": "Agree on the next date.",
    "skills": ["giving feedback", "underwater basket weaving"],
}
SCENARIO: Mapping[str, Any] = {
    "title": "Late again",
    "situation": "Your colleague delivered the report three days late.",
    "counterpart": {
        "role": "colleague in finance",
        "attitude": "defensive at first",
        "instructions": "You waited for figures from sales and were ashamed to ask.",
    },
    "goal": "Agree on a date.",
    "opening_line": "You wanted to see me?",
    "expected_outcomes": ["The counterpart restates the impact.", "Both confirm a date."],
    "skills": [
        {
            "title": "Giving feedback",
            "catalogue_number": 1,
            "criteria": ["names the secret criterion of behaviour", "names the impact"],
        },
        {"title": "Listening and responding to defensiveness", "catalogue_number": 7, "criteria": ["asks back"]},
    ],
    "difficulty": "beginner",
    "estimated_minutes": 10,
}
PRIVATE = ("defensive at first", "ashamed to ask", "secret criterion")


def draft(**changes: Any) -> dict[str, Any]:
    """A scenario as a model drafts it."""
    return {**SCENARIO, **changes}


def judgement(**changes: Any) -> dict[str, Any]:
    """An assessment as a model writes it, with quotes of the lines that `play` says."""
    outcome = {"result": "met", "reason": "Shown.", "quotes": ["your team waited for my report"]}
    skill = {"level": "strong", "reason": "Clear.", "quotes": ["the report came three days late"]}
    return {
        "outcomes": [{"number": 1, **outcome}, {"number": 2, "result": "not_met", "reason": "No date.", "quotes": []}],
        "skills": [{"number": 1, **skill}, {"number": 2, "level": "not_shown", "reason": "None.", "quotes": []}],
        "summary": "You named the problem.",
        "next_steps": ["Agree on a date."],
    } | changes


@dataclass
class SimulationEngine(OriaEngine):
    """One person whom Career Chat suggests a simulation, who starts it and plays it."""

    async def suggest(self, name: str | None = None, **options: Any) -> Turn:
        """A turn in which the agent calls the tool."""
        prepare(self.script, name)
        return await self.run("I want to practise a talk about a late report", **options)

    async def start(self, turn: Turn, user: str = USER) -> UUID:
        """Start the simulation that a turn has shown; what is said next is said in it."""
        simulation_id = UUID(read_card(turn)["simulation_id"])
        conversation, _ = await start_simulation(self.database, user, "simulation", simulation_id)
        self.conversation_id = conversation.id
        return conversation.id

    async def begin(self, **changes: Any) -> None:
        """Suggest and start a simulation with these changes to its scenario."""
        prepare(self.script)
        self.script.on(label=DRAFT).reply(give(draft(**changes)))
        await self.start(await self.run("I want to practise a talk about a late report"))
        self.script.requests.clear()

    async def play(self, count: int = 1) -> Turn:
        """That many exchanges."""
        self.script.on(label=COUNTERPART).reply(say("So your team waited for my report?"))
        for number in range(count):
            turn = await self.run(f"Hello, the report came three days late, {number}.")
        return turn

    async def scenario_rows(self) -> list[Any]:
        """The rows of the table of simulations."""
        async with self.database.transaction() as connection:
            cursor = await connection.execute("select * from simulations order by created_at")
            return list(await cursor.fetchall())


def prepare(script: Script, name: str | None = None) -> None:
    """Script the whole suggestion."""
    arguments = {"request": "A talk about a late report"} | ({"counterpart_name": name} if name else {})
    script.on(label=SUPERVISOR).reply(choose("career_chat"))
    script.on(label=AGENT, tool=NAME).reply(call(NAME, **arguments))
    script.on(label=PARSE).reply(give(BRIEF))
    script.on(label=DRAFT).reply(give(SCENARIO))


def read_card(turn: Turn) -> dict[str, Any]:
    """The only card of a turn."""
    assert turn.outcome is not None, turn.status
    [card] = turn.outcome["cards"]
    return dict(card)


async def read_context(engine: SimulationEngine) -> TurnContext:
    """A request context of the person, for what is called without a graph."""
    from tests.integration.agents.conftest import Conversation

    return Conversation(engine.script, engine.database, user_id=USER).build_context("Hello")
