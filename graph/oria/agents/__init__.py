"""Oria's specialists: who there is, what each is for, and where its node is.

The node functions are imported when they first run: a gate or supervisor worker never pays for the tools of a
specialist. `description` is written for the supervisor's choice and for `GET /v1/assistants`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from oria_runtime.tenancy.tenants import ProfileName

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from oria_runtime.turns.context import TurnContext

NodeFunction = Callable[[Mapping[str, Any], "Runtime[TurnContext]"], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Specialist:
    """An agent that the supervisor can pick. Its node, and its models' task label, are named after its id."""

    id: str
    name: str
    description: str
    profile: ProfileName

    @property
    def node(self) -> str:
        """The name of its node in the graph."""
        return f"{self.id}_agent"

    @property
    def label(self) -> str:
        """The task label of its model calls."""
        return f"langgraph.{self.node}"

    async def run(self, state: Mapping[str, Any], runtime: "Runtime[TurnContext]") -> dict[str, Any]:
        """The node: runs the agent for this turn and returns its new messages and the outcome."""
        node: NodeFunction = import_module(f"graph.oria.agents.{self.id}.agent").run
        return await node(state, runtime)


SPECIALISTS: Mapping[str, Specialist] = {
    specialist.id: specialist
    for specialist in (
        Specialist(
            id="career_chat",
            name="Career Chat",
            description=(
                "Career conversation and coaching: greetings, thanks, questions about the person's own profile, "
                "skills, objectives, motivation, interviews, feedback, relations at work and career choices. "
                "Also the place for requests that are too vague to tell what the person wants."
            ),
            profile="mini",
        ),
        Specialist(
            id="training_finder",
            name="Training Finder",
            description=(
                "Finds trainings, courses and learning content in the company's catalogue, shows more of them, "
                "and builds learning plans: what to learn about a topic, skill or role, in which order, in how "
                "much time."
            ),
            profile="large",
        ),
    )
}
