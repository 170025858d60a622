"""Oria's specialists: who there is, what each is for, and where its node is.

The node functions are imported when they first run: a gate or supervisor worker never pays for the tools of a
specialist. `description` is written for the supervisor's choice and for `GET /v1/assistants`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from oria_runtime.tenancy.tenants import ProfileName

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from graph.oria.agents.specialist_run import AgentDefinition
    from oria_runtime.turns.context import TurnContext


@dataclass(frozen=True)
class Specialist:
    """An agent with a node of its own. The node, and its models' task label, are named after its id."""

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
        from graph.oria.agents.specialist_run import run_specialist

        return await run_specialist(self.define(), state, runtime)

    def define(self) -> "AgentDefinition":
        """Its prompts and tools, from the module in its folder."""
        definition: AgentDefinition = import_module(f"graph.oria.agents.{self.id}.agent").define()
        return definition


# Whom the supervisor can pick and a caller can name.
SPECIALISTS: Mapping[str, Specialist] = {
    specialist.id: specialist
    for specialist in (
        Specialist(
            id="career_chat",
            name="Career Chat",
            description=(
                "Career conversation and coaching: greetings, thanks, questions about the person's own profile, "
                "skills, objectives, motivation, interviews, feedback, relations at work and career choices. "
                "Also answers questions about the company itself: its rules, policies, benefits, deadlines, "
                "procedures, internal tools and services. "
                "Also the place for requests that are too vague to tell what the person wants."
            ),
            profile="mini",
        ),
        Specialist(
            id="opportunity_search",
            name="Opportunity Search",
            description=(
                "Finds openings inside the company: jobs, projects, missions, mentoring and internships, by wish, "
                "profile or objective, and shows more of them."
            ),
            profile="large",
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
        Specialist(
            id="talent_finder",
            name="Talent Finder",
            description=(
                "Finds people in the company who match criteria: skills, role, department, location, employer. For "
                "staffing, expertise and mentors, not for one person whose name is known."
            ),
            profile="large",
        ),
        Specialist(
            id="profile_analysis",
            name="Profile Analysis",
            description=(
                "Analyses the person's own profile as a whole: strengths, gaps towards the current job, development "
                "topics and an action plan, shown as a card."
            ),
            profile="large",
        ),
        Specialist(
            id="task_helper",
            name="Task Helper",
            description=(
                "Helps with one concrete work task: writing, preparing, structuring, summarising, a checklist or a "
                "template for something that must be done now."
            ),
            profile="mini",
        ),
        Specialist(
            id="person_disambiguation",
            name="Person Look-up",
            description=(
                "Settles which colleague a name means before something is done about that person, such as practising "
                "a conversation with them."
            ),
            profile="large",
        ),
    )
}

# Behind Career Chat, which hands over to it: no supervisor picks it, no caller names it and no list shows it.
KNOWLEDGE_BASE = Specialist(
    id="knowledge_base",
    name="Knowledge Base",
    description="Finds a specific fact about the company in its own documents and public pages, and says where it is.",
    profile="mini",
)
# The directive with which its stage, killed or failed, is dispatched once more (DESIGN 2.2).
RECOVERY: Final = "unavailable"
