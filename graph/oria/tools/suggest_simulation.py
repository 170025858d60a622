"""Suggests a role-play to practise a conversation with; may pause once to ask which colleague is meant.

The pause comes before any model is asked, and its candidates are a cached snapshot, so nothing is done twice.
"""

from typing import Any, Final
from uuid import uuid4

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.func import task
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, run_bounded
from graph.oria.state import SelectedPerson
from graph.oria.tools.clarification import attach_exchange
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.simulation.brief import parse_request
from graph.oria.tools.simulation.card import CARD_TYPE, IDS_KEY, build_card, write_text
from graph.oria.tools.simulation.colleague import choose_colleague, find_colleagues
from graph.oria.tools.simulation.drafting import draft_scenario
from graph.oria.tools.simulation.skills import map_skills
from graph.oria.tools.talent.person_candidates import PersonCandidate, find_confirmed
from graph.oria.untrusted import encode_data
from graph.oria.window import CARD_TYPE_KEY
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.simulations import NewSimulation, store_simulation

NAME: Final = "suggest_simulation"
FAILURE: Final = "Error: the simulation could not be prepared just now."

Runtime = ToolRuntime[TurnContext]


class PracticeRequest(BaseModel):
    """Arguments of the tool."""

    request: str = Field(description="What to practise, as a text that stands on its own, in the person's words.")
    counterpart_name: str | None = Field(
        None, description="Name of the colleague to practise with, as the person wrote it; null when none was named."
    )


def build_simulation_tool(profile: Profile | None, selected_person: SelectedPerson | None) -> BaseTool:
    """The tool for this request; its card is shown to the person directly.

    Args:
        profile: who practises, for the setting of the scenario.
        selected_person: the colleague whom the person confirmed last; their exact id counts when the name is theirs.
    """

    @declare_tool(NAME, PracticeRequest)
    async def suggest_simulation(
        runtime: ToolRuntime[TurnContext], request: str, counterpart_name: str | None = None
    ) -> ToolResult:
        """Prepare a role-play in which the person practises a conversation at work, such as feedback or a negotiation.

        The card goes to the person directly; they start the practice from it. Call it when they want to practise,
        rehearse or simulate a talk, not when they only want advice. It finds a named colleague itself.
        """
        practice = PracticeRequest(request=request, counterpart_name=counterpart_name)
        work = find_and_suggest(practice, profile, selected_person, runtime)
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return suggest_simulation


async def find_and_suggest(
    practice: PracticeRequest, profile: Profile | None, selected: SelectedPerson | None, runtime: Runtime
) -> ToolResult:
    """Find the colleague, ask if there are several, then prepare the simulation."""

    @task
    async def find_once() -> list[PersonCandidate]:
        # Somebody whom this very run has confirmed is in the agent's state only.
        confirmed = runtime.state.get("selected_person") or selected
        name = practice.counterpart_name
        # Confirmed in this turn under a name that only resembles theirs: that question is answered.
        if name and (known := find_confirmed(runtime.state["messages"], str(runtime.context.turn.id), name)):
            name, confirmed = known["name"], known
        return await find_colleagues(name, confirmed, runtime.context)

    colleague, exchange = choose_colleague(await find_once(), runtime.context)
    work = suggest(practice, profile, colleague, runtime)
    result = await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)
    return attach_exchange(result, exchange)


async def suggest(
    practice: PracticeRequest, profile: Profile | None, colleague: PersonCandidate | None, runtime: Runtime
) -> ToolResult:
    """Parse, map, draft, store; the card is the answer."""
    context = runtime.context
    brief = await parse_request(practice.request, profile, runtime.state["messages"], context)
    scenario = await draft_scenario(brief, colleague, await map_skills(brief.skills, context), context)
    simulation_id = uuid4()
    card = build_card(simulation_id, scenario)
    turn = context.turn
    simulation = NewSimulation(
        simulation_id, turn.user_id, turn.id, turn.locale, card, scenario.model_dump(mode="json")
    )
    await store_simulation(context.database, simulation)
    unresolved = colleague is None and bool((practice.counterpart_name or "").strip())
    text = write_text(scenario, turn.locale, unresolved=unresolved)
    return deliver(write_record(card, runtime), text=text, cards=[card])


def write_record(card: dict[str, Any], runtime: Runtime) -> ToolMessage:
    """The result as later turns read it; the id travels in the artifact, which no model sees."""
    artifact = {CARD_TYPE_KEY: CARD_TYPE, IDS_KEY: [card["simulation_id"]]}
    content = {"suggested": card["title"], "counterpart": card["counterpart"]["role"]}
    return ToolMessage(encode_data(content), name=NAME, tool_call_id=runtime.tool_call_id or "", artifact=artifact)
